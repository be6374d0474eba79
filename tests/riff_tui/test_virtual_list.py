"""The list draws what is in view and nothing else, however many rows there are."""

from __future__ import annotations

from collections.abc import Iterator

from textual.app import App
from textual.pilot import Pilot

from riff_tui.content import Content, Target
from riff_tui.spans import Spans
from riff_tui.widgets.painted import RoleScreen
from riff_tui.widgets.virtual_list import VirtualList

ROWS = 1_000_000


class ListApp(App[None]):
    """One list of a million rows, which counts how many it was asked for."""

    CSS = "VirtualList { height: 1fr; overflow-y: scroll; scrollbar-size: 0 0; }"

    def __init__(self, rows: int = ROWS) -> None:
        super().__init__()
        self.rows = rows
        self.current = 5
        self.drawn: list[int] = []
        self.heard: list[Target] = []

    def compose(self) -> Iterator[VirtualList]:
        yield VirtualList(self.source, id="list", tabs=(("1", "Rows", True),))

    def source(self, width: int, rows: int) -> Content:
        return Content(
            note=(("complete", "dim"),),
            count=self.rows,
            draw=self.draw,
            current=self.current,
            select=self.current,
            marks={self.rows - 1: "bad"},
            target=lambda row: Target("event", index=row),
        )

    def get_default_screen(self) -> RoleScreen:
        return RoleScreen()

    def follow(self) -> None:
        self.list.follows = True
        self.list.pull()

    def draw(self, row: int, width: int) -> Spans:
        self.drawn.append(row)
        return ((f"row {row}", ""),)

    def on_virtual_list_highlighted(self, message: VirtualList.Highlighted) -> None:
        self.heard.append(message.target)

    @property
    def list(self) -> VirtualList:
        return self.query_one(VirtualList)


def texts(pilot: Pilot[None]) -> list[str]:
    app = pilot.app
    assert isinstance(app, ListApp)
    return [app.list.line_at(y).text for y in range(app.list.size.height)]


async def test_a_million_rows_cost_what_is_in_view() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        assert len(set(app.drawn)) <= 12
        assert " 1 Rows " in texts(pilot)[0] and "complete" in texts(pilot)[0]
        app.list.action_scroll_end()
        await pilot.pause()
        assert app.list.selected == ROWS - 1
        assert len(set(app.drawn)) <= 40
        assert any(f"row {ROWS - 1}" in line for line in texts(pilot))


async def test_a_step_inside_the_view_draws_two_rows_anew() -> None:
    app = ListApp(100)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        app.follow()
        app.drawn.clear()
        app.current = 6
        app.follow()
        assert sorted(app.drawn) == [5, 6]
        assert app.list.selected == 6


async def test_leaving_the_view_jumps_half_a_page_and_time_stays() -> None:
    app = ListApp(100)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press(*["down"] * 11)
        assert app.list.selected == 11
        assert app.list.scroll_offset.y == 6
        assert app.current == 5
        assert [target.index for target in app.heard] == list(range(1, 12))
        await pilot.press("pageup", "home")
        assert app.list.selected == 0


async def test_marks_and_cursor_are_glyphs() -> None:
    app = ListApp(100)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        lines = texts(pilot)
        assert lines[1].startswith("› ")
        assert lines[6].startswith(" ▶row 5")
        assert lines[-1].endswith("╸")
        assert lines[1].endswith("┃")


async def test_an_empty_list_takes_every_key() -> None:
    app = ListApp(0)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("down", "up", "pagedown", "pageup", "home", "end", "enter")
        assert app.list.selected == 0


async def test_a_row_that_cannot_be_read_says_so() -> None:
    app = ListApp(3)

    def broken(row: int, width: int) -> Spans:
        raise OSError("the folder is gone")

    app.draw = broken  # type: ignore[method-assign]
    async with app.run_test(size=(60, 8)) as pilot:
        await pilot.pause()
        assert "can't be read: the folder is gone" in texts(pilot)[1]
