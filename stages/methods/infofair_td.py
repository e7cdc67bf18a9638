"""T + D: InfoFair without its sensitive feature predictor's loss (the paper's second ablation).

The predictor itself stays: it provides the q that s̃ is drawn from.
"""

from stages.methods.infofair import InfoFair

METHOD = InfoFair("T", "D")
