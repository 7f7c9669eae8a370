"""Loads plugins: entry points one by one, so that a broken one harms no other.

A name that two plugins claim is an error that names both; a plugin that fails to load is left out
with a warning that names its distribution, and so is one operator that cannot be taken.
`TAMIS_PLUGINS` (distributions or entry points, separated by commas) allows only those beside tamis
itself.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pluggy

from tamis.errors import PluginError, PluginWarning, TamisError, UnknownPlugin
from tamis.event import DerivedAttribute
from tamis.indexing import IndexRecord
from tamis.models import ModelRecord
from tamis.nearest import did_you_mean
from tamis.operators import Operator, OperatorRecord, record_of, records_of
from tamis.operators.shipping import note_file_module
from tamis.planning import PlannerRecord
from tamis.plugins import hookspecs

if TYPE_CHECKING:
    from importlib import metadata

GROUP = "tamis"
OWN = "tamis"
ALLOWED = "TAMIS_PLUGINS"


class _NamedRecord(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=_NamedRecord)


class PluginClash(PluginError):
    """A name that two plugins claim."""


@dataclass(frozen=True)
class PluginRecord:
    """A plugin that was found, and whether it could be used."""

    name: str
    distribution: str
    version: str
    status: str
    provides: tuple[str, ...] = ()
    troubles: tuple[tuple[str, str], ...] = ()
    """The operators that cannot be set up, and why."""

    @property
    def reasons(self) -> dict[str, str]:
        """Why operators cannot be set up, and which those are, in words."""
        names: dict[str, list[str]] = {}
        for name, reason in self.troubles:
            names.setdefault(reason, []).append(name)
        return {reason: ", ".join(each) for reason, each in names.items()}


@dataclass
class Plugins:
    """Everything that plugins brought, by name, and who brought it."""

    operators: dict[str, OperatorRecord] = field(default_factory=dict)
    planners: dict[str, PlannerRecord] = field(default_factory=dict)
    indexes: dict[str, IndexRecord] = field(default_factory=dict)
    attributes: dict[str, DerivedAttribute] = field(default_factory=dict)
    models: dict[str, ModelRecord] = field(default_factory=dict)
    sources: dict[tuple[str, str], str] = field(default_factory=dict)
    found: list[PluginRecord] = field(default_factory=list)
    clash: PluginClash | None = None

    def planner(self, name: str) -> PlannerRecord:
        """Returns the planner of that name."""
        return _known("planner", name, self.planners)

    def model(self, name: str) -> ModelRecord:
        """Returns the model of that name."""
        return _known("model", name, self.models)

    def index(self, name: str) -> IndexRecord:
        """Returns the index of that name, with options that may follow: `psthash:accesses=3`."""
        name, colon, options = name.partition(":")
        record = _known("index", name, self.indexes)
        return record.with_options(options) if colon else record

    def add(self, plugin: object, source: str) -> tuple[str, ...]:
        """Takes what a plugin brings; `PluginError` names a clash.

        An operator that cannot be taken costs itself alone, with a warning."""
        manager = pluggy.PluginManager("tamis")
        manager.add_hookspecs(hookspecs)
        manager.register(plugin)
        manager.check_pending()
        hook = manager.hook
        operators = list(_guarded(hook.tamis_operators(), source))
        names = [each.specification.name for each in operators]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise PluginError(f"it brings two operators named {twice}")
        brought: dict[str, Mapping[str, Any]] = {
            "operator": {each.specification.name: each for each in operators},
            "planner": _by_name(chain.from_iterable(hook.tamis_planners()), PlannerRecord),
            "index": _by_name(chain.from_iterable(hook.tamis_indexes()), IndexRecord),
            "attribute": _by_name(chain.from_iterable(hook.tamis_attributes()), DerivedAttribute),
            "model": _by_name(chain.from_iterable(hook.tamis_models()), ModelRecord),
        }
        for kind, named in brought.items():
            for name in named:
                self._refuse_clash(kind, name, source)
        for kind, named in brought.items():
            self._table(kind).update(named)
            self.sources.update({(kind, name): source for name in named})
        return tuple(f"{kind} {name}" for kind, named in brought.items() for name in named)

    def _table(self, kind: str) -> dict[str, Any]:
        tables: dict[str, dict[str, Any]] = {
            "operator": self.operators,
            "planner": self.planners,
            "index": self.indexes,
            "attribute": self.attributes,
            "model": self.models,
        }
        return tables[kind]

    def _refuse_clash(self, kind: str, name: str, source: str) -> None:
        other = self.sources.get((kind, name))
        if other is not None:
            raise PluginClash(
                f"the {kind} {name} is brought by both {other} and {source}: "
                f"uninstall one, or name the allowed ones in {ALLOWED}"
            )


def _guarded(brought: Iterable[Iterable[object]], source: str) -> Iterator[OperatorRecord]:
    """Yields records of operators; leaves out others, and failures, with a warning."""
    for several in map(iter, brought):
        while True:
            try:
                yield record_of(next(several))
            except StopIteration:
                break
            except Exception as failure:
                warnings.warn(
                    f"an operator of {source} is left out: {type(failure).__name__}: {failure}",
                    PluginWarning,
                    stacklevel=2,
                )


def _by_name(records: Iterable[object], kind: type[N]) -> dict[str, N]:
    named: dict[str, N] = {}
    for record in records:
        if not isinstance(record, kind):
            raise PluginError(f"a hook returned {record!r}, which is not a {kind.__name__}")
        named[record.name] = record
    return named


def _known(kind: str, name: str, table: Mapping[str, N]) -> N:
    if name not in table:
        known = ", ".join(sorted(table)) or "none"
        raise UnknownPlugin(
            f"unknown {kind} {name!r}{did_you_mean(str(name), table)} (installed: {known})"
        )
    return table[name]


def installed() -> Plugins:
    """Returns the installed plugins, found once a process (and when `TAMIS_PLUGINS` changes).

    `PluginError` when two plugins bring things of one name."""
    plugins = found_plugins()
    if plugins.clash is not None:
        raise plugins.clash
    return plugins


def operators_of(
    operators: Iterable[object] | None, also: Iterable[object] = ()
) -> list[OperatorRecord]:
    """Returns installed operators, or these alone, and more that replace those of a name."""
    records = installed().operators.values() if operators is None else records_of(operators)
    more = records_of(also)
    names = {each.specification.name for each in more}
    return [*(each for each in records if each.specification.name not in names), *more]


def found_plugins() -> Plugins:
    """Returns the same to look at, clash or not."""
    return _installed(os.environ.get(ALLOWED))


@functools.lru_cache(maxsize=4)
def _installed(allowed: str | None) -> Plugins:
    plugins = Plugins()
    names = None if allowed is None else {name.strip() for name in allowed.split(",")}
    for entry in sorted(_entry_points(), key=lambda each: (_distribution(each) != OWN, each.name)):
        distribution = _distribution(entry)
        version = entry.dist.version if entry.dist is not None else ""
        if names is not None and distribution != OWN and not names & {entry.name, distribution}:
            plugins.found.append(
                PluginRecord(entry.name, distribution, version, f"not in {ALLOWED}")
            )
            continue
        plugins.found.append(_loaded(plugins, entry, distribution, version))
    known = {OWN, *(each.name for each in plugins.found)}
    known |= {each.distribution for each in plugins.found}
    for name in sorted((names or set()) - known - {""}):
        warnings.warn(
            f"{ALLOWED} allows {name}, which is not installed{did_you_mean(name, known)}",
            PluginWarning,
            stacklevel=3,
        )
    return plugins


def _entry_points() -> Iterable[metadata.EntryPoint]:
    """Returns the entry points of the group; a distribution that is found twice counts once."""
    from importlib import metadata

    return {(each.name, each.value): each for each in metadata.entry_points(group=GROUP)}.values()


def _distribution(entry: metadata.EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown distribution"


def _loaded(
    plugins: Plugins, entry: metadata.EntryPoint, distribution: str, version: str
) -> PluginRecord:
    record = PluginRecord(entry.name, distribution, version, "loaded")
    try:
        provides = plugins.add(entry.load(), f"{distribution} ({entry.name})")
    except PluginClash as clash:
        plugins.clash = clash
        return replace(record, status=f"clash: {clash}")
    except (Exception, SystemExit) as failure:
        status = f"failed: {type(failure).__name__}: {failure}"
        warnings.warn(
            f"plugin {entry.name} of {distribution} is left out; it {status}",
            PluginWarning,
            stacklevel=2,
        )
        return replace(record, status=status)
    names = [each.removeprefix("operator ") for each in provides if each.startswith("operator ")]
    troubles = [(name, plugins.operators[name].trouble) for name in names]
    return replace(record, provides=provides, troubles=tuple(each for each in troubles if each[1]))


def operators_in(target: str) -> list[OperatorRecord]:
    """Returns the operators of a module (`package.module`) or a file (`operators.py`)."""
    module = _module(target)
    found = [
        record_of(value)
        for name, value in vars(module).items()
        if not name.startswith("_") and _is_operator(value, module)
    ]
    hook = getattr(module, "tamis_operators", None)
    if callable(hook) and not isinstance(hook, Operator):
        found.extend(record_of(each) for each in hook())
    unique = {record.specification.name: record for record in found}
    if not unique:
        raise PluginError(f"{target} holds no operator: put @tamis.operator above a function")
    return list(unique.values())


def _is_operator(value: object, module: ModuleType) -> bool:
    if isinstance(value, type):
        return issubclass(value, Operator) and value.__module__ == module.__name__
    return isinstance(value, (Operator, OperatorRecord))


def _module(target: str) -> ModuleType:
    path = Path(target)
    try:
        if target.endswith(".py") or path.is_file():
            if not path.is_file():
                raise PluginError(f"there is no file {target}")
            return _from_file(path)
        if not target.replace(".", "").replace("_", "").isalnum():
            raise PluginError(f"{target} is neither a module nor a file that ends in .py")
        return importlib.import_module(target)
    except TamisError:
        raise
    except (Exception, SystemExit) as failure:
        raise PluginError(
            f"{target} cannot be imported: {type(failure).__name__}: {failure}"
        ) from failure


def _from_file(path: Path) -> ModuleType:
    name = path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    taken = name in sys.modules
    if not taken:
        sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
        note_file_module(name)
    except BaseException:
        if not taken:
            del sys.modules[name]
        raise
    finally:
        sys.path.pop(0)
    return module
