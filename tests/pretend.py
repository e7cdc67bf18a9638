"""A pretend accelerator: what can be shown of a device that is not the CPU where there is none.

`pretend` is a device of PyTorch's (a PrivateUse1 backend, all in Python). Its tensors keep their
numbers on the CPU and every operation is run there, so results must be the CPU's, bit for bit; but
as on a GPU, tensors of the two do not mix (numbers without dimensions apart), random generators
belong to one of them, and whatever goes from one to the other is counted: `crossed`.

PyTorch's autograd knows only devices that were there when it was first used, so tests of it are run
in a process of their own, by tests/whole/test_device.py.

It does not show what kernels of a real device do: docs/speed.md lists that, and `make gpu-check`
tries it where there is one.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

ASKED = "INFOFAIR_PRETEND"  # the variable that says that this process is one of its own
alone = pytest.mark.skipif(ASKED not in os.environ, reason="run by tests/whole/test_device.py")
NAME = "pretend"
HOST, DEVICE = "to the host", "to the device"
aten = torch.ops.aten
crossed: Counter[str] = Counter()

# They give a number, or a shape that depends on numbers, so that a GPU would be waited for.
WAITED_FOR = {
    aten._local_scalar_dense.default, aten.equal.default, aten.masked_select.default,
    aten.nonzero.default, aten._unique2.default,
}  # fmt: skip
COPIES = {aten._to_copy.default, aten.copy_.default}
# What is asked of a tensor itself; operations in place may change the answer.
ABOUT: dict[Any, Callable[..., Any]] = {
    aten.dim.default: torch.Tensor.dim,
    aten.is_contiguous.default: torch.Tensor.is_contiguous,
    aten.is_contiguous.memory_format: lambda raw, how: raw.is_contiguous(memory_format=how),
    aten.is_non_overlapping_and_dense.default: torch.ops.aten.is_non_overlapping_and_dense,
    aten.is_strides_like_format.default: lambda raw, how: raw.is_contiguous(memory_format=how),
    aten.numel.default: torch.Tensor.numel,
    aten.size.default: torch.Tensor.size,
    aten.storage_offset.default: torch.Tensor.storage_offset,
    aten.stride.default: torch.Tensor.stride,
    aten.sym_numel.default: torch.Tensor.numel,
    aten.sym_size.default: torch.Tensor.size,
    aten.sym_storage_offset.default: torch.Tensor.storage_offset,
    aten.sym_stride.default: torch.Tensor.stride,
}


class Pretend(torch.Tensor):
    """A tensor of the device; `raw` has its numbers."""

    raw: torch.Tensor

    @staticmethod
    def __new__(cls, raw: torch.Tensor) -> "Pretend":
        self: Pretend = torch.Tensor._make_wrapper_subclass(
            cls, raw.shape, strides=raw.stride(), storage_offset=raw.storage_offset(),
            dtype=raw.dtype, device=torch.device(NAME, 0), dispatch_sizes_strides_policy="sizes",
        )  # fmt: skip
        self.raw = raw
        return self

    @classmethod
    def __torch_dispatch__(
        cls, op: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return run(op, *args, **(kwargs or {}))

    def __repr__(self, **_: Any) -> str:
        return f"{NAME}: {self.raw!r}"


def run(op: Any, *args: Any, **kwargs: Any) -> Any:
    """An operation of the device."""
    if op in ABOUT:
        return ABOUT[op](args[0].raw, *args[1:])
    tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    here = [each for each in tensors if not isinstance(each, Pretend)]
    there = [each for each in tensors if isinstance(each, Pretend)]
    if op not in COPIES and there and any(each.dim() for each in here):
        raise RuntimeError(f"{op}: tensors of the CPU and of {NAME} do not mix")
    to_host = _to_host(op, args, kwargs)
    if op in WAITED_FOR or (to_host and there):
        crossed[HOST] += 1
    elif op in COPIES and here:
        crossed[DEVICE] += 1
    if kwargs.get("device") is not None:
        kwargs = kwargs | {"device": torch.device("cpu")}
    with torch._C._DisableFuncTorch():  # vmap is above the device, and its work is done
        found = op(*tree_map(_raw, args), **tree_map(_raw, kwargs))
    if to_host:
        return args[0] if op is aten.copy_.default else found
    known = {id(each.raw): each for each in there}  # what was changed in place
    return tree_map(partial(_wrapped, known), found)


def _to_host(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if op is aten.copy_.default:
        return not isinstance(args[0], Pretend)
    to = kwargs.get("device")
    return op is aten._to_copy.default and to is not None and torch.device(to).type != NAME


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, Pretend) else value


def _wrapped(known: dict[int, Pretend], value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return known[id(value)] if id(value) in known else Pretend(value)


class Generator(torch._C.Generator):
    """PyTorch's own, or one of the device, which draws what the CPU's does."""

    _there: bool

    def __new__(cls, device: Any = "cpu") -> "Generator":
        there = torch.device(device).type == NAME
        self = super().__new__(cls, "cpu" if there else device)
        self._there = there
        return self

    @property
    def device(self) -> torch.device:
        return torch.device(NAME, 0) if self._there else super().device


class Module:
    """torch.pretend: what PyTorch asks of a device's module."""

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        pass

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def get_rng_state(self, device: Any = None) -> torch.Tensor:
        return torch.empty(0, dtype=torch.uint8)

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:
        pass


_registered: list[torch.library.Library] = []  # what is registered lives as long as these


def _register() -> None:
    """Once a process: PyTorch has room for one such device, for good."""
    if _registered:
        return
    _setup_privateuseone_for_python_backend(NAME, backend_module=Module())
    everything, copying = (torch.library.Library(of, "IMPL") for of in ("_", "aten"))
    everything.fallback(run, "PrivateUse1")
    # torch.tensor(…, device=…) does not find what is registered for all
    copying.impl("_to_copy", partial(run, aten._to_copy.default), "PrivateUse1")
    _registered.extend([everything, copying])


@contextmanager
def device() -> Iterator[torch.device]:
    """The device, with nothing counted yet."""
    _register()
    crossed.clear()
    with mock.patch("torch.Generator", Generator):
        yield torch.device(NAME)
