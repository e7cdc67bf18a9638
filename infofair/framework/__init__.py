"""The paper's framework for any extractor, attribute and task, behind infofair/estimators.py.

Four modules, each an ordinary `torch.nn.Module` that can be replaced (modules.py): feature
extractor, target predictor, sensitive feature predictor q(s|z) and density ratio estimator f(z, s).
The first two minimise

    J = T + α Σ (E[log q(s|z)] + E[f(z, s)]),

the other two are fitted, each by a loss of its own (infofair/methods/infofair_fitted.py says why).

    sensitive  what s is: columns to groups and numbers (generalisation D), together or in parallel
    outcomes   what z is: decision, score, representation (C) or prediction (F)
    notions    on which rows: all, the positives, or each class by itself (A)
    players    the modules put together: who predicts, and a pair of critics for every part of s
    plan       what is trained, and what it is told
    stacked    many models of any modules in one pass (torch.func), and Adam
    graphs     a graph convolutional network as extractor (E), and its sparse product for all models
    trunk      the same on infofair/training, where that can serve
    estimate   how many bits z tells about s, by a fresh estimate on held-out rows
    storage    a fitted model as a file, without pickle
"""
