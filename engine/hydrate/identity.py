"""Who the call is (contract 1.2): the manifest, else ``session_started``, else the rows where they agree."""

from __future__ import annotations

from engine.hydrate.call import Identity
from engine.model.errors import EngineError
from engine.model.flow import Flow
from engine.sources.manifest import Manifest
from engine.sources.merge import Ledger
from engine.sources.part import CAPTURED


def identify(manifest: Manifest | None, ledger: Ledger) -> Identity:
    """Identity of a call with ledgers.

    Raises:
        EngineError: ``UNSUPPORTED_ARTIFACT`` when rows are of several sessions and no manifest says whose.
    """
    started = _started(ledger)
    if manifest is not None:
        session = manifest.session_id
        stated = {name: getattr(manifest, name) for name in Identity._fields}
    else:
        session = None
        stated = dict.fromkeys(Identity._fields)
    if session is None:
        if len(ledger.sessions) > 1:
            names = sorted(ledger.sessions)
            raise EngineError(
                "UNSUPPORTED_ARTIFACT",
                f"the ledgers hold rows of {len(names)} sessions and no manifest says whose call this is: "
                + ", ".join(names[:5]),
                sessions=names[:100],
            )
        session = next(iter(ledger.sessions), None)
    for name in ("flow_id", "flow_version", "kind", "transport"):
        if stated[name] is None:
            stated[name] = started.get(name)
    return Identity(**stated | {"session_id": session})


def _started(ledger: Ledger) -> dict[str, str | None]:
    captured = ledger.captured.get("session_started")
    if captured is None or not captured.rows:
        return {}
    return {name: captured.columns[name][0] for name in CAPTURED["session_started"]}


def flow_mismatch(flow: Flow | None, identity: Identity) -> str | None:
    """Why a flow can't speak for this call, or None."""
    if flow is None:
        return None
    if flow.version_disagrees:
        return f"flow.json states {flow.stated_version} and is {flow.flow_version}"
    if identity.flow_version is not None and identity.flow_version != flow.flow_version:
        return f"the call ran {identity.flow_version}, flow.json is {flow.flow_version}"
    return None
