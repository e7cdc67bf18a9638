"""The rooms' tests, and in `whole` those of all rooms together."""

from infofair import kernels

kernels.pin()  # before anything loads NumPy, as the doors do
