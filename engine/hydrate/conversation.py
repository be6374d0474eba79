"""The conversation lane: who said what, and what was acted on, in call order (contract 2.8).

Indexing groups events into items by their ids, kinds and ranges; an item is made when it is looked at. Items
of one visit stand together, in the order the visit is stepped through, so the lane follows the cursor.
"""

from __future__ import annotations

import weakref
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.hydrate.agentitems import agent_item
from engine.hydrate.agentlines import Lines, agent_lines
from engine.hydrate.call import KIND_CODES, Call
from engine.hydrate.callerturns import CallerTurn
from engine.hydrate.laneitems import Input, Lane, barge_in_item, decision_item, input_item
from engine.model.artifact import Turn

_DECISIONS = ("locked_choice_evaluated", "transition_committed", "timer_fired")
_CALLER, _AGENT, _BARGE_IN, _DECISION = range(4)


class _Index(NamedTuple):
    """Items as columns; ``place`` counts in `inputs` or among the lines, or is an event number."""

    source: NDArray[np.int8]
    place: NDArray[np.int64]
    rank: NDArray[np.int64]
    inputs: list[Input]
    agent: Lines


_indexes: weakref.WeakKeyDictionary[Call, _Index] = weakref.WeakKeyDictionary()


class Conversation:
    """The lane of one call (contract 2.8)."""

    def __init__(self, call: Call, index: _Index) -> None:
        self._call = call
        self._index = index
        self.count = len(index.rank)

    def item(self, number: int) -> Turn:
        """The item at a place of the lane, from 0."""
        call, index = self._call, self._index
        source, place = int(index.source[number]), int(index.place[number])
        if source == _CALLER:
            return input_item(call, index.inputs[place])
        if source == _AGENT:
            return agent_item(call, index.agent.line(place), index.agent)
        return barge_in_item(call, place) if source == _BARGE_IN else decision_item(call, place)

    def items_until(self, event: int) -> int:
        """The last item that begins at or before an event of the call, or -1."""
        rank = _ranks(self._call, np.array([event], np.int64))[0]
        return int(np.searchsorted(self._index.rank, rank, "right")) - 1

    def of_input(self, input_id: str) -> Turn | None:
        """What the caller did under an input, or None where no row of the caller names it."""
        for item in self._index.inputs:
            if item.main and item.turn.input_id == input_id:
                return input_item(self._call, item)
        return None

    def of_visit(self, visit: int) -> range:
        """The items that stand with a visit, those of unattributed events at its time among them."""
        low, high = np.searchsorted(self._index.rank, [visit << _VISIT, (visit + 1) << _VISIT]).tolist()
        return range(low, high)


def conversation(call: Call) -> Conversation:
    """The lane of a call; its index is built once."""
    index = _indexes.get(call)
    if index is None:
        index = _indexes[call] = _build(call)
    return Conversation(call, index)


def items_until(call: Call, event: int) -> int:
    """The last item of the lane that begins at or before an event, or -1."""
    return conversation(call).items_until(event)


def caller_item(call: Call, turn: CallerTurn) -> Turn:
    """The item of one caller turn, without an index."""
    return input_item(call, Input(turn, _lane(turn)))


# Order.

_VISIT, _LATE = 36, 35


def _ranks(call: Call, events: NDArray[np.int64]) -> NDArray[np.int64]:
    """Stepping order of any events; one that no visit owns stands with the visit opened last before it."""
    visits = call.visit_of[events].astype(np.int64)
    lost = np.flatnonzero(visits < 0)
    if len(lost):
        anchors = np.array([call.bus_anchor(event) for event in events[lost].tolist()], np.int64)
        open_then = np.maximum(np.searchsorted(call.parts.built.firsts, anchors, "right") - 1, 0)
        visits[lost] = np.where(anchors < 0, len(call.visits), open_then)
    late = np.zeros(len(events), np.int64)
    bus = events < call.first_extra
    late[bus] = call.owned.late[events[bus]]
    return (visits << _VISIT) + (late << _LATE) + call.keys[events] + 8


def _input_ranks(call: Call, inputs: list[Input]) -> NDArray[np.int64]:
    """The rank of the first event of each input that is of the input's own visit; each has one."""
    if not inputs:
        return np.zeros(0, np.int64)
    events = [[one.event for one in item.turn.heard] + [*item.digits, *item.audio] for item in inputs]
    owner = np.repeat(np.arange(len(inputs)), [len(group) for group in events])
    flat = np.array(list(chain.from_iterable(events)), np.int64)
    visits = np.array([item.turn.visit for item in inputs], np.int64)
    own = np.flatnonzero(call.visit_of[flat] == visits[owner])
    starts = np.searchsorted(owner[own], np.arange(len(inputs)))
    return np.minimum.reduceat(_ranks(call, flat[own]), starts)


def _agent_ranks(call: Call, agent: Lines) -> NDArray[np.int64]:
    """The rank of the first event or row of each agent line."""
    beside = agent.others()
    ranks = _ranks(call, np.array(beside, np.int64)).tolist()
    return agent.least(_ranks(call, agent.output.events), dict(zip(beside, ranks, strict=True)))


# The index.


def _build(call: Call) -> _Index:
    inputs, agent = _inputs(call), agent_lines(call)
    barged, decided = _rows(call, "barge_in"), _rows(call, *_DECISIONS)
    ranks = (
        _input_ranks(call, inputs),
        _agent_ranks(call, agent),
        _ranks(call, barged),
        _ranks(call, decided),
    )
    places = (np.arange(len(inputs)), np.arange(agent.count), barged, decided)
    rank, place = np.concatenate(ranks), np.concatenate(places)
    source = np.repeat(np.arange(len(ranks), dtype=np.int8), [len(part) for part in ranks])
    order = np.lexsort((place, source, rank))
    return _Index(source[order], place[order], rank[order], inputs, agent)


def _rows(call: Call, *kinds: str) -> NDArray[np.int64]:
    """The bus events of some kinds."""
    codes = [KIND_CODES[kind] for kind in kinds]
    return np.flatnonzero(np.isin(call.kind_of[: call.first_extra], codes))


def _by_input(call: Call, *kinds: str) -> list[tuple[int, str | None]]:
    """The bus events of some kinds with the inputs they name."""
    found: list[tuple[int, str | None]] = []
    for kind in kinds:
        captured = call.ledger.captured.get(kind)
        if captured is not None:
            found += zip(captured.rows, captured.columns["input_id"], strict=True)
    return sorted(found, key=itemgetter(0))


def _lane(turn: CallerTurn) -> Lane:
    if turn.heard[0].source != "dtmf":
        return "caller"
    return "dtmf" if all(one.source == "dtmf" for one in turn.heard) else "caller"


def _inputs(call: Call) -> list[Input]:
    """Caller turns, digits and audio, joined on ``input_id``; audio that nothing transcribed is kept."""
    items = [Input(turn, _lane(turn)) for turn in call.parts.caller_turns]
    by_id = {item.turn.input_id: item for item in items if item.turn.input_id is not None}
    _add_digits(call, items, by_id)
    for event, input_id in _by_input(call, "caller_audio_started", "caller_audio_ended"):
        if input_id is None:
            continue
        item = by_id.get(input_id)
        if item is None:
            item = by_id[input_id] = Input(_bare(call, event, input_id), "caller")
            items.append(item)
        item.audio += (event,)
    return items


def _bare(call: Call, event: int, input_id: str | None) -> CallerTurn:
    """A turn that no transcript observed."""
    return CallerTurn(int(call.visit_of[event]), input_id, ())


def _add_digits(call: Call, items: list[Input], by_id: dict[str, Input]) -> None:
    """Keys of one input are one item; beside a spoken turn of that input they are an item of their own."""
    beside: dict[str, Input] = {}
    for event, input_id in _by_input(call, "dtmf_received"):
        if input_id is None:
            items.append(Input(_bare(call, event, None), "dtmf", (event,)))
            continue
        item = by_id.get(input_id)
        spoken = item is not None and item.lane == "caller"
        if spoken:
            item = beside.get(input_id)
        if item is None:
            item = Input(_bare(call, event, input_id), "dtmf", main=not spoken)
            items.append(item)
            (beside if spoken else by_id)[input_id] = item
        item.digits += (event,)
