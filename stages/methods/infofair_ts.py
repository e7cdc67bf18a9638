"""T + S: InfoFair without its density ratio estimator (the paper's first ablation)."""

from stages.methods.infofair import InfoFair

METHOD = InfoFair("T", "S")
