"""Histories: every value of one slot or field, by pages (contract 3.3)."""

from __future__ import annotations

import msgspec

from engine.debug import history
from engine.model.views import ContextChange, SlotChange
from engine.service.action import Action, Asked, Outcome, PageArgs, paged


class SlotArgs(PageArgs, frozen=True, kw_only=True):
    """Which slot."""

    slot: str


class FieldArgs(PageArgs, frozen=True, kw_only=True):
    """Which field of the context."""

    field: str


class SlotHistory(msgspec.Struct, frozen=True):
    """What was known of a slot, and from which event on."""

    slot: str
    changes: list[SlotChange]


class ContextHistory(msgspec.Struct, frozen=True):
    """What each context snapshot says of a field."""

    field: str
    snapshots: list[ContextChange]


def slot_history(asked: Asked, args: SlotArgs) -> Outcome:
    """Every value of a slot, with the event it rests on and who wrote it."""
    points = history.slot_points(asked.call, args.slot)
    page = paged(len(points), args)
    changes = [history.slot_change(asked.call, args.slot, points[number]) for number in page.numbers]
    refs = [change.event_id for change in changes if change.event_id is not None]
    return Outcome(SlotHistory(args.slot, changes), refs=list(dict.fromkeys(refs)), page=page.page)


def context_history(asked: Asked, args: FieldArgs) -> Outcome:
    """Every recorded value of a field of the context."""
    events = history.context_snapshots(asked.call, args.field)
    page = paged(len(events), args)
    told = [history.context_change(asked.call, events[number], args.field) for number in page.numbers]
    return Outcome(ContextHistory(args.field, told), refs=[one.event_id for one in told], page=page.page)


ACTIONS = (
    Action("inspect_slot_history", SlotArgs, slot_history, SlotHistory, "Every value of a slot."),
    Action(
        "inspect_context_history",
        FieldArgs,
        context_history,
        ContextHistory,
        "Every value of a context field.",
    ),
)
