"""What a failure has ended, by the name that its client, its schedule or its user knows it by."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest

from tests.e2e.api import Api
from tests.failures.runs import Run, run
from tests.programs import Program

Write = Callable[..., Program]


def named(found: Run) -> list[tuple[object, ...]]:
    """(what, type, line, name) of each stop."""
    return [(*stop.what, stop.view.get("ends_name")) for stop in found.stops]


async def test_a_request_by_what_the_server_has_called_the_application_with(
    api: Api, program: Write
) -> None:
    """The server logs the exception alone; a part of the path belongs to the mount by then."""
    app = program("""
        import logging
        import threading
        import urllib.error
        import urllib.request

        from werkzeug.middleware.dispatcher import DispatcherMiddleware
        from werkzeug.serving import make_server

        logging.getLogger("werkzeug").setLevel(logging.CRITICAL)

        def nothing(environ, start_response):
            start_response("404 Not Found", [])
            return []

        def price(environ, start_response):
            raise KeyError(environ["PATH_INFO"])  # @price

        server = make_server("127.0.0.1", 0, DispatcherMiddleware(nothing, {"/shop": price}))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{server.port}/shop/milk")
        except urllib.error.HTTPError as error:
            print(error.code)
        server.shutdown()
        thread.join()
        server.server_close()
    """)
    found = await run(api, script=app.text)
    assert named(found) == [("request", "KeyError", app.line("price"), "GET /shop/milk")]
    assert await found.session.printed() == "500\n"


async def test_a_call_of_an_asyncio_server_of_grpc(api: Api, program: Write) -> None:
    served = program("""
        import asyncio
        import logging

        import grpc

        logging.disable()

        async def price(request, context):
            prices = {b"bread": b"3"}
            return prices[request]  # @price

        async def handled(request, context):
            await context.abort(grpc.StatusCode.NOT_FOUND, "no milk")

        async def main():
            one = grpc.unary_unary_rpc_method_handler
            methods = {"price": one(price), "handled": one(handled)}
            server = grpc.aio.server()
            server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("shop", methods)])
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                print(await channel.unary_unary("/shop/price")(b"bread"))
                for name in methods:
                    try:
                        await channel.unary_unary(f"/shop/{name}")(b"milk")
                    except grpc.RpcError as error:
                        print(error.code().name)
            await server.stop(0)

        asyncio.run(main())
    """)
    found = await run(api, script=served.text)
    assert named(found) == [("request", "KeyError", served.line("price"), "/shop/price")]
    assert found.stops[0].locals["request"] == "b'milk'"
    assert await found.session.printed() == "b'3'\nUNKNOWN\nNOT_FOUND\n"


async def test_a_callback_of_tkinter(api: Api, program: Write) -> None:
    """One that the program hears of itself is no failure."""
    pytest.importorskip("tkinter")
    app = program("""
        import tkinter

        done = []

        def price(item):
            done.append(item)
            prices = {"bread": 3}
            return prices[item]  # @price

        class Careful(tkinter.Tk):
            def report_callback_exception(self, kind, error, traceback):
                print("handled", kind.__name__)

        for kind, item in ((tkinter.Tk, "bread"), (tkinter.Tk, "milk"), (Careful, "eggs")):
            root = kind(useTk=False)  # no display is needed
            root.tk.call("after", 1, root.register(lambda: price(item)))
            while item not in done:
                root.tk.dooneevent()
    """)
    found = await run(api, script=app.text)
    assert named(found) == [("task", "KeyError", app.line("price"), "callback of Tkinter")]
    assert found.stops[0].locals["item"] == "'milk'"
    assert "handled KeyError\n" in await found.session.printed()


LITESTAR = """
    from litestar import Litestar, Response, get
    from litestar.background_tasks import BackgroundTask
    from litestar.testing import TestClient

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    @get("/{item:str}")
    async def view(item: str) -> Response:
        return Response({}, background=BackgroundTask(price, item))

    with TestClient(Litestar([view]), raise_server_exceptions=False) as client:
        client.get("/bread")
        client.get("/milk")
"""

LOCUST = """
    import sys

    from locust import User, constant, task
    from locust.main import main

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    bought = []

    class Customer(User):
        wait_time = constant(0)

        @task
        def buy(self):
            bought.append("milk")
            if len(bought) > 1:
                self.environment.runner.quit()
            price(bought[-1])

    if __name__ == "__main__":
        sys.argv[1:] = ["-f", __file__, "--headless", "-u", "1", "--only-summary", "-L", "CRITICAL"]
        main()
"""

LUIGI = """
    import luigi

    class Price(luigi.Task):
        item = luigi.Parameter()

        def run(self):
            prices = {"bread": 3}
            return prices[self.item]  # @price

    luigi.build([Price("milk")], local_scheduler=True, log_level="CRITICAL")
"""

DOIT = """
    from doit.cmd_base import ModuleTaskLoader
    from doit.doit_cmd import DoitMain

    def price(item):
        prices = {"bread": 3}
        return {"price": prices[item]}  # @price

    def task_price():
        yield {"name": "milk", "actions": [(price, ["milk"])]}

    DoitMain(ModuleTaskLoader({"task_price": task_price})).run(
        ["--db-file", ":memory:", "--backend", "sqlite3"]
    )
"""


@pytest.mark.parametrize(
    ("package", "source", "ends", "name"),
    [
        ("litestar", LITESTAR, "request", "GET /milk"),
        ("locust", LOCUST, "job", "Customer"),
        ("luigi", LUIGI, "job", "Price(item=milk)"),
        ("doit", DOIT, "job", "price:milk"),
    ],
)
async def test_rarer_frameworks_by_name(
    api: Api, program: Write, package: str, source: str, ends: str, name: str
) -> None:
    if (
        importlib.util.find_spec(package) is None
    ):  # imported here, Locust would patch our own threads
        pytest.skip(f"{package} is not installed")
    app = program(source)
    found = await run(api, script=app.text)
    assert named(found) == [(ends, "KeyError", app.line("price"), name)]
    assert found.stops[0].locals["prices"] == "{'bread': 3}"


NOTEBOOK = """{
 "cells": [
  {
   "cell_type": "code",
   "source": [
    "prices = {\\"bread\\": 3}"
   ]
  },
  {
   "cell_type": "code",
   "source": [
    "item = \\"milk\\"\\n",
    "prices[item]"
   ]
  }
 ]
}
"""

# What nbval raises, and for which item; with itself a kernel would be needed.
NBVAL = """
    import json

    import pytest

    class NbCellError(Exception):
        def __init__(self, cell_num, message, source, traceback):
            super().__init__(message)
            self.cell_num, self.source, self.inner_traceback = cell_num, source, traceback

    def pytest_collect_file(file_path, parent):
        if file_path.suffix == ".ipynb":
            return Notebook.from_parent(parent, path=file_path)

    class Notebook(pytest.File):
        def collect(self):
            for number, cell in enumerate(json.loads(self.path.read_text())["cells"]):
                item = Cell.from_parent(self, name=f"Cell {number}")
                item.number, item.source = number, "".join(cell["source"])
                yield item

    class Cell(pytest.Item):
        def runtest(self):
            if "milk" in self.source:
                said = "Cell In[2]\\n      1 item = 'milk'\\n\\x1b[32m----> \\x1b[39m2 prices[item]\\nKeyError: 'milk'"
                raise NbCellError(self.number, "Cell execution caused an exception", self.source, said)
"""


async def test_a_cell_that_nbval_has_run_is_shown_in_its_notebook(api: Api, program: Write) -> None:
    plugin = program(NBVAL, "site-packages/cells_of_notebooks.py")
    notebook = plugin.path.parent.parent / "shop" / "shop.ipynb"
    notebook.parent.mkdir()
    notebook.write_text(NOTEBOOK)
    found = await run(
        api,
        module="pytest",
        args=["-q", "-p", "no:cacheprovider", "-p", "cells_of_notebooks", "shop.ipynb"],
        cwd=str(notebook.parent),
        env={"PYTHONPATH": str(plugin.path.parent)},
    )
    (stop,) = found.stops
    assert stop.test == "shop.ipynb::Cell 1"
    place = stop.view["current_location"]
    assert (place["path"], place["function"]) == (str(notebook), "Cell 1")
    assert '"prices[item]"' in NOTEBOOK.splitlines()[stop.line - 1]
    assert stop.locals == {
        "cell": "'item = \"milk\"\\nprices[item]'",
        "said": "\"KeyError: 'milk'\"",
    }


async def test_a_test_of_nose2_with_parameters(api: Api, program: Write) -> None:
    """What it calls the test has the parameters on a second line: they are no part of the name."""
    suite = program(
        """
        from nose2.tools import params

        @params("bread", "milk")
        def test_price(item):
            assert item == "bread"  # @price
        """,
        "test_shop.py",
    )
    found = await run(api, module="nose2", args=["test_shop"], cwd=str(suite.path.parent))
    assert [(stop.test, stop.line) for stop in found.stops] == [
        ("test_shop.test_price:2", suite.line("price"))
    ]
