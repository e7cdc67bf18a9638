"""The paper's baselines as its authors evidently ran them, mistakes included."""
