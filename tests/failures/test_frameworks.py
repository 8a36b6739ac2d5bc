"""Requests, jobs and commands that fail, in the frameworks that people have."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.api import Api
from tests.failures.runs import run, run_tests
from tests.programs import Program

Write = Callable[..., Program]


FLASK = """
    import flask

    app = flask.Flask(__name__)

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    @app.get("/price/<item>")
    def view(item):
        return str(price(item))

    @app.get("/handled")
    def handled():
        try:
            price("milk")
        except KeyError:
            flask.abort(404)

    client = app.test_client()
    print(*(client.get(path).status_code for path in ("/price/bread", "/handled", "/price/milk")))
"""

DJANGO = """
    import django
    from django.conf import settings
    from django.http import Http404, HttpResponse
    from django.test import Client
    from django.urls import path

    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="x")
    django.setup()

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    def view(request, item):
        return HttpResponse(str(price(item)))

    def handled(request):
        try:
            price("milk")
        except KeyError:
            raise Http404

    urlpatterns = [path("price/<str:item>", view), path("handled", handled)]
    client = Client(raise_request_exception=False)
    print(*(client.get(path).status_code for path in ("/price/bread", "/handled", "/price/milk")))
"""

FASTAPI = """
    import fastapi
    from fastapi.testclient import TestClient

    app = fastapi.FastAPI()

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    @app.get("/price/{item}")
    def view(item: str):
        return price(item)

    @app.get("/handled")
    async def handled():
        try:
            price("milk")
        except KeyError:
            raise fastapi.HTTPException(404)

    client = TestClient(app, raise_server_exceptions=False)
    print(*(client.get(path).status_code for path in ("/price/bread", "/handled", "/price/milk")))
"""

AIOHTTP = """
    import asyncio
    from aiohttp import web
    from aiohttp.test_utils import TestClient, TestServer

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    async def view(request):
        return web.Response(text=str(price(request.match_info["item"])))

    async def handled(request):
        try:
            price("milk")
        except KeyError:
            raise web.HTTPNotFound

    async def main():
        app = web.Application()
        app.add_routes([web.get("/price/{item}", view), web.get("/handled", handled)])
        async with TestClient(TestServer(app)) as client:
            paths = "/price/bread", "/handled", "/price/milk"
            print(*[(await client.get(path)).status for path in paths])

    asyncio.run(main())
"""

WSGIREF = """
    import threading
    import urllib.error
    import urllib.request
    from wsgiref.simple_server import make_server

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    def app(environ, start_response):
        path = environ["PATH_INFO"]
        if path == "/handled":
            try:
                price("milk")
            except KeyError:
                start_response("404 Not Found", [])
                return [b""]
        body = str(price(path.rpartition("/")[2])).encode()
        start_response("200 OK", [])
        return [body]

    def status(path):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}{path}").status
        except urllib.error.HTTPError as error:
            return error.code

    server = make_server("127.0.0.1", 0, app)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    print(*(status(path) for path in ("/price/bread", "/handled", "/price/milk")))
    server.shutdown()
    thread.join()
    server.server_close()
"""

QUART = """
    import asyncio
    import quart

    app = quart.Quart(__name__)
    app.logger.disabled = True

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    @app.get("/price/<item>")
    async def view(item):
        return str(price(item))

    @app.get("/handled")
    async def handled():
        try:
            price("milk")
        except KeyError:
            quart.abort(404)

    async def main():
        client = app.test_client()
        paths = "/price/bread", "/handled", "/price/milk"
        print(*[(await client.get(path)).status_code for path in paths])

    asyncio.run(main())
"""

TORNADO = """
    import asyncio
    import logging
    import tornado.httpclient
    import tornado.httpserver
    import tornado.testing
    import tornado.web

    logging.disable()

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    class View(tornado.web.RequestHandler):
        async def get(self, item):
            self.write(str(price(item)))

    class Handled(tornado.web.RequestHandler):
        def get(self):
            try:
                price("milk")
            except KeyError:
                raise tornado.web.HTTPError(404)

    async def main():
        app = tornado.web.Application([("/price/(.*)", View), ("/handled", Handled)])
        server = tornado.httpserver.HTTPServer(app)
        sock, port = tornado.testing.bind_unused_port()
        server.add_socket(sock)
        client = tornado.httpclient.AsyncHTTPClient()
        base = f"http://127.0.0.1:{port}"
        paths = "/price/bread", "/handled", "/price/milk"
        print(*[(await client.fetch(base + path, raise_error=False)).code for path in paths])
        server.stop()
        await server.close_all_connections()

    asyncio.run(main())
"""

BOTTLE = """
    import bottle
    from wsgiref.util import setup_testing_defaults

    app = bottle.Bottle()

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    @app.get("/price/<item>")
    def view(item):
        return str(price(item))

    @app.get("/handled")
    def handled():
        try:
            price("milk")
        except KeyError:
            bottle.abort(404)

    def status(path):
        environ, found = {"PATH_INFO": path}, []
        setup_testing_defaults(environ)
        list(app(environ, lambda line, *_: found.append(line.split()[0])))
        return found[0]

    print(*(status(path) for path in ("/price/bread", "/handled", "/price/milk")))
"""

FALCON = """
    import falcon
    import falcon.asgi
    import falcon.testing

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    class View:
        async def on_get(self, request, response, item):
            response.text = str(price(item))

    class Handled:
        async def on_get(self, request, response):
            try:
                price("milk")
            except KeyError:
                raise falcon.HTTPNotFound

    app = falcon.asgi.App()
    app.add_route("/price/{item}", View())
    app.add_route("/handled", Handled())
    client = falcon.testing.TestClient(app)
    paths = "/price/bread", "/handled", "/price/milk"
    print(*(client.simulate_get(path).status_code for path in paths))
"""


TWISTED_WEB = """
    import urllib.error
    import urllib.request
    from twisted.internet import reactor, threads
    from twisted.web import resource, server

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    class Price(resource.Resource):
        isLeaf = True

        def render_GET(self, request):
            if request.path == b"/handled":
                try:
                    price("milk")
                except KeyError:
                    request.setResponseCode(404)
                    return b""
            return str(price(request.path.decode().rpartition("/")[2])).encode()

    def status(path):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port.getHost().port}{path}").status
        except urllib.error.HTTPError as error:
            return error.code

    def ask():
        print(*(status(path) for path in ("/price/bread", "/handled", "/price/milk")))

    port = reactor.listenTCP(0, server.Site(Price()), interface="127.0.0.1")
    threads.deferToThread(ask).addBoth(lambda _: reactor.stop())
    reactor.run()
"""


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(FLASK, id="flask"),
        pytest.param(DJANGO, id="django"),
        pytest.param(FASTAPI, id="fastapi"),
        pytest.param(AIOHTTP, id="aiohttp"),
        pytest.param(QUART, id="quart"),
        pytest.param(TORNADO, id="tornado"),
        pytest.param(BOTTLE, id="bottle"),
        pytest.param(FALCON, id="falcon"),
        pytest.param(WSGIREF, id="wsgiref"),
        pytest.param(TWISTED_WEB, id="twisted"),
    ],
)
async def test_a_request_that_is_answered_by_500(api: Api, program: Write, source: str) -> None:
    app = program(source)
    found = await run(api, script=app.text)
    (stop,) = found.stops
    assert stop.what == ("request", "KeyError", app.line("price"))
    assert stop.view["ends_name"] == "GET /price/milk"
    assert stop.locals == {"item": "'milk'", "prices": "{'bread': 3}"}
    assert await found.session.printed() == "200 404 500\n"
    assert found.exit_code == 0


WERKZEUG_DEBUGGER = """
    import flask
    from werkzeug.debug import DebuggedApplication
    from werkzeug.test import Client

    app = flask.Flask(__name__)

    @app.get("/stream")
    def stream():
        def parts():
            yield "one"
            rest = {}
            yield rest["two"]  # @part
        return parts()

    @app.get("/view")
    def view():
        return missing  # @view

    @app.get("/absent")
    def absent():
        flask.abort(404)

    def plain(environ, start_response):
        raise LookupError(environ["PATH_INFO"])  # @plain

    app.debug = True
    client = Client(DebuggedApplication(app))
    answers = map(client.get, ("/stream", "/view", "/absent"))
    print(*(answer.status_code for answer in answers if answer.data))
    print(Client(DebuggedApplication(plain)).get("/whatever").status_code)
"""


async def test_a_request_that_is_answered_by_the_debugger_of_werkzeug(
    api: Api, program: Write
) -> None:
    """As `app.run(debug=True)` has it: also where a part of the response was sent before."""
    app = program(WERKZEUG_DEBUGGER)
    found = await run(api, script=app.text)
    assert [(*stop.what, stop.view["ends_name"]) for stop in found.stops] == [
        ("request", "KeyError", app.line("part"), "GET /stream"),
        ("request", "NameError", app.line("view"), "GET /view"),
        ("request", "LookupError", app.line("plain"), "GET /whatever"),
    ]
    assert found.stops[0].locals == {"rest": "{}"}
    assert await found.session.printed() == "200 500 404\n500\n"


TWISTED = """
    import gc
    from twisted.internet import defer, reactor, task
    from twisted.python import log

    def price(item):
        prices = {"bread": 3}
        return prices[item]  # @price

    def broken(result=None):
        raise ValueError("broken")  # @broken

    @defer.inlineCallbacks
    def generator():
        yield task.deferLater(reactor, 0, lambda: None)
        price("eggs")

    async def coroutine():
        raise LookupError("lost")  # @lost

    def handled():
        for handle in lambda failure: failure.trap(ValueError) and None, log.err:
            waits = defer.Deferred()
            waits.addCallback(broken)
            waits.addErrback(handle)
            waits.callback(None)

    def begin():
        generator()
        reactor.callLater(0, handled)
        reactor.callLater(0, price, "milk")
        reactor.callLater(0.01, reactor.stop)

    reactor.callWhenRunning(begin)
    reactor.run()
    gc.collect()
    kept = defer.ensureDeferred(coroutine())
    print("ends")
"""


async def test_what_twisted_catches_and_logs(api: Api, program: Write) -> None:
    app = program(TWISTED)
    found = await run(api, script=app.text)
    assert sorted((*stop.what, stop.view["ends_name"]) for stop in found.stops) == sorted(
        [
            ("task", "KeyError", app.line("price"), "while handling timed call"),
            ("task", "KeyError", app.line("price"), "Unhandled error in Deferred"),
            ("task", "LookupError", app.line("lost"), "Unhandled error in Deferred"),
        ]
    )
    assert {stop.locals.get("item") for stop in found.stops} == {"'milk'", "'eggs'", None}
    assert await found.session.printed() == "ends\n"


async def test_a_test_of_trial_may_look_for_what_twisted_logs(api: Api, program: Write) -> None:
    suite = program(
        """
        from twisted.internet import defer, reactor, task
        from twisted.trial import unittest

        def broken():
            raise ValueError("broken")  # @broken

        class Shop(unittest.TestCase):
            def test_expected(self):
                reactor.callLater(0, broken)
                waits = task.deferLater(reactor, 0.01, lambda: None)
                return waits.addCallback(lambda _: self.assertTrue(self.flushLoggedErrors()))

            def test_not_looked_for(self):
                reactor.callLater(0, broken)
                return task.deferLater(reactor, 0.01, lambda: None)
    """,
        "test_shop.py",
    )
    args = ["--temp-directory=trial", "test_shop"]
    found = await run(api, module="twisted.trial", args=args, cwd=str(suite.path.parent))
    assert [(stop.test, *stop.what) for stop in found.stops] == [
        ("test_shop.Shop.test_not_looked_for", "test", "ValueError", suite.line("broken"))
    ]


async def test_a_test_may_look_for_a_500(api: Api, program: Write) -> None:
    suite = program(
        """
        import flask

        app = flask.Flask(__name__)

        @app.get("/<item>")
        def view(item):
            prices = {"bread": 3}
            return str(prices[item])  # @view

        def test_expected():
            assert app.test_client().get("/milk").status_code == 500

        def test_fails():
            response = app.test_client().get("/milk")
            assert response.status_code == 200  # @assert
    """,
        "test_shop.py",
    )
    found = await run_tests(api, suite.text)
    (stop,) = found.stops
    assert (stop.test, stop.line) == ("test_shop.py::test_fails", suite.line("assert"))
    (earlier,) = stop.exception["chain"]
    assert (earlier["relation"], earlier["ends"]) == ("earlier", "request")
    assert (earlier["type"], earlier["location"]["line"]) == ("KeyError", suite.line("view"))
    assert "before it, in the same test: KeyError" in stop.report


async def test_a_case_of_unittest_keeps_what_it_was_answered(api: Api, program: Write) -> None:
    """pytest says that it failed only after the case has run."""
    suite = program(
        """
        import unittest

        import flask

        app = flask.Flask(__name__)

        @app.get("/<item>")
        def view(item):
            return str({"bread": 3}[item])  # @view

        class Shop(unittest.TestCase):
            def test_fails(self):
                self.assertEqual(app.test_client().get("/milk").status_code, 200)
        """,
        "test_shop.py",
    )
    found = await run_tests(api, suite.text)
    (stop,) = found.stops
    (earlier,) = stop.exception["chain"]
    assert (earlier["relation"], earlier["location"]["line"]) == ("earlier", suite.line("view"))


async def test_the_runner_of_django(api: Api, program: Write) -> None:
    program(
        """
        SECRET_KEY = "x"
        INSTALLED_APPS = ["shop"]
        DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
    """,
        "settings.py",
    )
    program("", "shop/__init__.py")
    suite = program(
        """
        from django.test import SimpleTestCase

        class Shop(SimpleTestCase):
            def test_expected(self):
                with self.assertRaises(KeyError):
                    {}["bread"]

            def test_price(self):
                price = 3
                self.assertEqual(price, 4)  # @assert
    """,
        "shop/tests.py",
    )
    manage = program(
        """
        import os
        import sys
        from django.core.management import execute_from_command_line

        os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
        execute_from_command_line(sys.argv)
    """,
        "manage.py",
    )
    found = await run(api, script=manage.text, args=["test"])
    (stop,) = found.stops
    assert stop.test == "shop.tests.Shop.test_price"
    assert (stop.line, stop.locals["price"]) == (suite.line("assert"), "3")


@pytest.mark.parametrize(
    ("module", "args", "base"),
    [
        ("nose2", ["test_shop"], "unittest"),
        ("testtools.run", ["test_shop"], "testtools"),
        ("twisted.trial", ["--temp-directory=trial", "test_shop"], "twisted.trial.unittest"),
    ],
)
async def test_other_runners(
    api: Api, program: Write, module: str, args: list[str], base: str
) -> None:
    suite = program(
        f"""
        import {base}

        def price(item):
            prices = {{"bread": 3}}
            return prices[item]  # @price

        class Shop({base}.TestCase):
            def test_expected(self):
                self.assertRaises(KeyError, price, "milk")

            def test_price(self):
                price("cheese")
        """,
        "test_shop.py",
    )
    found = await run(api, module=module, args=args)
    (stop,) = found.stops
    assert stop.test == "test_shop.Shop.test_price"
    assert (stop.line, stop.locals["item"]) == (suite.line("price"), "'cheese'")


TESTTOOLS = """
    import unittest
    import testtools
    from testtools.matchers import Equals

    class Shop(testtools.TestCase):
        def test_expected(self):
            self.expectFailure("known", self.assertEqual, 1, 2)

        @unittest.expectedFailure
        def test_expected_by_unittest(self):
            raise KeyError("bread")

        def test_skipped(self):
            self.skipTest("not today")

        def test_checks(self):
            class Inner(testtools.TestCase):
                def test_inner(self):
                    self.assertThat(5, Equals(6))

            Inner("test_inner").run(testtools.TestResult())
            for price in range(3):
                self.expectThat(price, Equals(1))  # @check

        def test_last(self):
            def close(number):
                raise KeyError(number)  # @close

            self.addCleanup(close, 3)
            raise OSError(4)  # @raise
"""


@pytest.mark.parametrize("runner", ["testtools.run", "unittest", "pytest"])
async def test_cases_of_testtools(api: Api, program: Write, runner: str) -> None:
    suite = program(TESTTOOLS, "test_shop.py")
    if runner == "pytest":
        found = await run_tests(api, suite.text)
        name = "test_shop.py::Shop::"
    else:
        found = await run(api, module=runner, args=["test_shop"])
        name = "test_shop.Shop."
    free, dear, last, closed = found.stops
    assert [free.what, dear.what] == [("test", "MismatchError", suite.line("check"))] * 2
    assert [free.locals["price"], dear.locals["price"]] == ["0", "2"]
    assert dear.view["explanation"] == "2 != 1"
    assert last.what == ("test", "OSError", suite.line("raise"))
    assert closed.what == ("test", "KeyError", suite.line("close"))
    assert closed.locals == {"number": "3"}
    assert found.tests == [f"{name}test_checks"] * 2 + [f"{name}test_last"] * 2
    assert found.exit_code == 1


async def test_what_the_runner_of_zope_says_itself(api: Api, program: Write) -> None:
    program("", "shop/__init__.py")
    broken = program("import nowhere  # @import", "shop/test_broken.py")
    suite = program(
        """
        import unittest

        class Open:
            @classmethod
            def setUp(cls):
                price = 3
                raise KeyError(price)  # @setup

        class Closed:
            @classmethod
            def setUp(cls):
                pass

            @classmethod
            def tearDown(cls):
                raise OSError  # @teardown

        class First(unittest.TestCase):
            layer = Open

            def test_never(self):
                pass

        class Second(unittest.TestCase):
            layer = Closed

            def test_passes(self):
                pass
        """,
        "shop/test_layers.py",
    )
    options = ["--path", ".", "--tests-pattern", "^test_"]
    found = await run(api, module="zope.testrunner", args=options)
    assert {stop.test: stop.line for stop in found.stops} == {
        "shop.test_broken": broken.line("import"),
        "Layer: shop.test_layers.Open.setUp": suite.line("setup"),
        "Layer: shop.test_layers.Closed.tearDown": suite.line("teardown"),
    }
    assert len(found.stops) == 3


async def test_a_layer_of_nose2(api: Api, program: Write) -> None:
    suite = program(
        """
        import unittest

        class Open:
            @classmethod
            def setUp(cls):
                price = 3
                raise KeyError(price)  # @setup

        class Shop(unittest.TestCase):
            layer = Open

            def test_never(self):
                pass
        """,
        "test_shop.py",
    )
    args = ["--plugin", "nose2.plugins.layers", "test_shop"]
    (stop,) = (await run(api, module="nose2", args=args)).stops
    assert stop.what == ("test", "KeyError", suite.line("setup"))
    assert (stop.test, stop.view["ends_name"]) == ("test_shop.Open", "layer")


async def test_trial_with_deferreds_and_tests_that_a_test_runs(api: Api, program: Write) -> None:
    suite = program(
        """
        from twisted.internet import defer, reactor, task
        from twisted.python.failure import Failure
        from twisted.trial import unittest
        from twisted.trial.reporter import TestResult

        class Inner(unittest.TestCase):
            def fails(self):
                raise KeyError("inner")

        class Shop(unittest.TestCase):
            def test_inner(self):
                result = TestResult()
                Inner("fails").run(result)
                try:
                    raise OSError("of no test that was run")
                except OSError:
                    result.addError(Inner("fails"), Failure())
                self.assertEqual(len(result.errors), 2)

            def test_itself(self):
                result = TestResult()
                try:
                    raise OSError("which it handles")
                except OSError:
                    result.addError(self, Failure())
                    result.addError(Shop("test_itself"), Failure())
                    result.startTest(Inner("fails"))
                    result.stopTest(Inner("fails"))
                    result.addError(Inner("fails"), Failure())
                self.assertEqual(len(result.errors), 3)

            @defer.inlineCallbacks
            def test_later(self):
                yield task.deferLater(reactor, 0, int)
                price = 3
                raise ValueError(price)  # @raise
    """,
        "test_shop.py",
    )
    found = await run(api, module="twisted.trial", args=["--temp-directory=trial", "test_shop"])
    (stop,) = found.stops
    assert (stop.test, stop.line) == ("test_shop.Shop.test_later", suite.line("raise"))


async def test_a_template_shows_where_its_parser_raised(api: Api, program: Write) -> None:
    """jinja2 takes its own frames out of the traceback before anybody sees it."""
    fails = program("""
        import jinja2

        def broken(name):
            return jinja2.Template("{% if %}")  # @template

        broken("shop")
    """)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.what == ("process", "TemplateSyntaxError", fails.line("template"))
    assert stop.locals == {"name": "'shop'"}
    assert "\nraised at jinja2/parser.py:" in stop.report
    works = program("""
        import jinja2

        def half(number):
            return number / 0  # @half

        jinja2.Template("{{ half(21) }}").render(half=half)
    """)
    found = await run(api, script=works.text)
    (stop,) = found.stops
    assert (stop.line, stop.locals) == (works.line("half"), {"number": "21"})
    assert "raised at" not in stop.report


async def test_jobs_of_celery(api: Api, program: Write) -> None:
    jobs = program("""
        import celery

        app = celery.Celery(broker="memory://", backend="cache+memory://")
        app.conf.task_always_eager = True

        @app.task(name="shop.price")
        def price(item):
            prices = {"bread": 3}
            return prices[item]  # @price

        @app.task(bind=True, max_retries=1)
        def again(self, times):
            if self.request.retries < 1:
                raise self.retry(countdown=0)

        @app.task(throws=(ValueError, LookupError))
        def known(item):
            raise ValueError(item)  # celery logs it as expected

        known.delay("bread")
        price.delay("bread")
        again.delay(1)
        price.delay("milk")
    """)
    found = await run(api, script=jobs.text)
    (stop,) = found.stops
    assert stop.what == ("job", "KeyError", jobs.line("price"))
    assert (stop.view["ends_name"], stop.locals["item"]) == ("shop.price", "'milk'")


async def test_a_receiver_of_a_signal_of_celerys(api: Api, program: Write) -> None:
    jobs = program("""
        import celery
        from celery import signals

        app = celery.Celery(broker="memory://", backend="cache+memory://")
        app.conf.task_always_eager = True

        @app.task(name="shop.price")
        def price(item):
            return 3

        @signals.task_success.connect
        def count(sender=None, **about):
            raise KeyError("count")  # @count

        print(price.delay("bread").state)
    """)
    found = await run(api, script=jobs.text)
    (stop,) = found.stops
    assert stop.what == ("task", "KeyError", jobs.line("count"))
    assert stop.view["ends_name"] == "Signal handler … raised"
    assert await found.session.printed() == "SUCCESS\n"


async def test_jobs_of_rq(api: Api, program: Write) -> None:
    jobs = program(
        """
        def price(item):
            prices = {"bread": 3}
            return prices[item]  # @price
    """,
        "jobs.py",
    )
    worker = program("""
        import fakeredis
        import jobs
        from rq import Queue, SimpleWorker

        connection = fakeredis.FakeStrictRedis()
        queue = Queue(connection=connection)
        queue.enqueue(jobs.price, "bread")
        queue.enqueue(jobs.price, "milk")
        SimpleWorker([queue], connection=connection).work(burst=True)
    """)
    found = await run(api, script=worker.text)
    (stop,) = found.stops
    assert stop.what == ("job", "KeyError", jobs.line("price"))
    assert (stop.view["ends_name"], stop.locals["item"]) == ("jobs.price", "'milk'")


async def test_jobs_of_schedulers_and_queues(api: Api, program: Write) -> None:
    """What fails for good, once; not what is tried again, and not what was announced."""
    jobs = program("""
        import threading

        import dramatiq
        from apscheduler.events import EVENT_JOB_ERROR
        from apscheduler.schedulers.background import BackgroundScheduler
        from dramatiq.brokers.stub import StubBroker
        from huey import MemoryHuey

        attempts = []

        def price(item):
            prices = {"bread": 3}
            return prices[item]  # @price

        over = threading.Event()
        scheduler = BackgroundScheduler()
        scheduler.add_listener(lambda event: over.set(), EVENT_JOB_ERROR)
        scheduler.start()
        scheduler.add_job(price, args=["scheduled"])
        over.wait()
        scheduler.shutdown()

        broker = StubBroker()
        dramatiq.set_broker(broker)

        @dramatiq.actor(max_retries=0)
        def send(item):
            price(item)

        @dramatiq.actor(max_retries=0, throws=KeyError)
        def announced(item):
            price(item)

        @dramatiq.actor(max_retries=1, min_backoff=1, max_backoff=1)
        def again(item):
            attempts.append(item)
            price(item if len(attempts) < 2 else "bread")

        worker = dramatiq.Worker(broker, worker_timeout=50)
        worker.start()
        for actor in (send, announced, again):
            actor.send("sent")
            broker.join("default", fail_fast=False)
        worker.join()
        worker.stop()
        broker.close()

        queue = MemoryHuey()

        @queue.task(retries=1)
        def call(item):
            price(item)

        call("called")
        for _ in range(2):
            queue.execute(queue.dequeue())
        print(len(attempts))
    """)
    found = await run(api, script=jobs.text)
    line = jobs.line("price")
    assert [stop.what for stop in found.stops] == [("job", "KeyError", line)] * 3
    items = [stop.locals["item"] for stop in found.stops]
    assert items == ["'scheduled'", "'sent'", "'called'"]
    assert [stop.view.get("ends_name") for stop in found.stops] == [None, "send", "call"]
    assert await found.session.printed() == "2\n"


async def test_what_a_server_only_logs(api: Api, program: Write) -> None:
    """An application without a framework, and one that cannot begin; the log is switched off."""
    app = program("""
        import logging
        import threading
        import urllib.error
        import urllib.request

        import uvicorn

        logging.disable()

        async def view(scope, receive, send):
            if scope["path"] == "/milk":
                raise KeyError("milk")  # @request
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        def status(port, path):
            try:
                return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}").status
            except urllib.error.HTTPError as error:
                return error.code

        class Server(uvicorn.Server):
            async def startup(self, sockets=None):
                await super().startup(sockets)
                up.set()

        up = threading.Event()
        server = Server(uvicorn.Config(view, port=0, lifespan="off"))
        thread = threading.Thread(target=server.run)
        thread.start()
        up.wait()
        port = server.servers[0].sockets[0].getsockname()[1]
        print(status(port, "/bread"), status(port, "/milk"))
        server.should_exit = True
        thread.join()

        def connect():
            raise OSError("no database")  # @connect

        async def begin(scope, receive, send):
            try:  # as Starlette does it
                connect()
            except OSError as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                raise

        uvicorn.run(begin, port=0)
    """)
    found = await run(api, script=app.text)
    assert [stop.what for stop in found.stops] == [
        ("request", "KeyError", app.line("request")),
        ("process", "OSError", app.line("connect")),
    ]
    assert found.stops[0].view["ends_name"] == "GET /milk"
    assert await found.session.printed() == "200 500\n"
    assert found.exit_code == 3


WEBSOCKETS_ASYNCIO = """
    import asyncio

    from websockets.asyncio.client import connect
    from websockets.asyncio.server import serve
    from websockets.exceptions import ConnectionClosed

    async def handle(socket):
        async for text in socket:
            if text == "milk":
                raise KeyError(text)  # @handler
            await socket.send(text)

    async def main():
        async with serve(handle, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with connect(f"ws://127.0.0.1:{port}") as client:
                await client.send("bread")
                print(await client.recv())
                await client.send("milk")
                try:
                    await client.recv()
                except ConnectionClosed as error:
                    print(error.rcvd.code)

    asyncio.run(main())
"""

WEBSOCKETS_SYNC = """
    import threading

    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect
    from websockets.sync.server import serve

    def handle(socket):
        for text in socket:
            if text == "milk":
                raise KeyError(text)  # @handler
            socket.send(text)

    with serve(handle, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever).start()
        port = server.socket.getsockname()[1]
        with connect(f"ws://127.0.0.1:{port}") as client:
            client.send("bread")
            print(client.recv())
            client.send("milk")
            try:
                client.recv()
            except ConnectionClosed as error:
                print(error.rcvd.code)
        server.shutdown()
"""


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(WEBSOCKETS_ASYNCIO, id="asyncio"),
        pytest.param(WEBSOCKETS_SYNC, id="threads"),
    ],
)
async def test_a_handler_of_websockets(api: Api, program: Write, source: str) -> None:
    """It is told of in the log alone, through an adapter of a logger."""
    server = program(source)
    found = await run(api, script=server.text)
    (stop,) = found.stops
    assert stop.what == ("request", "KeyError", server.line("handler"))
    assert stop.locals["text"] == "'milk'"
    assert await found.session.printed() == "bread\n1011\n"
    assert found.exit_code == 0


async def test_an_application_under_hypercorn(api: Api, program: Write) -> None:
    app = program("""
        import asyncio
        import logging
        import urllib.error
        import urllib.request

        from hypercorn.asyncio import serve
        from hypercorn.config import Config

        async def view(scope, receive, send):
            if scope["type"] == "lifespan":
                raise NotImplementedError
            if scope["path"] == "/milk":
                raise KeyError("milk")  # @request
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        def status(address, path):
            try:
                return urllib.request.urlopen(f"{address}{path}").status
            except urllib.error.HTTPError as error:
                return error.code

        class Here(Config):
            def create_sockets(self):
                made = super().create_sockets()
                port = made.insecure_sockets[0].getsockname()[1]
                self.address = f"http://127.0.0.1:{port}"
                return made

        async def main():
            config = Here()
            config.bind = ["127.0.0.1:0"]
            config.errorlog = logging.getLogger("app")  # as Quart's own server does
            over = asyncio.Event()
            serving = asyncio.create_task(serve(view, config, shutdown_trigger=over.wait))
            while not hasattr(config, "address"):
                await asyncio.sleep(0)
            for path in ("/bread", "/milk"):
                print(await asyncio.to_thread(status, config.address, path))
            over.set()
            await serving

        asyncio.run(main())

        async def begin(scope, receive, send):
            try:  # as Starlette does it
                raise OSError("no database")  # @connect
            except OSError as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                raise

        asyncio.run(serve(begin, Here()))
    """)
    found = await run(api, script=app.text)
    assert [stop.what for stop in found.stops] == [
        ("request", "KeyError", app.line("request")),
        ("process", "OSError", app.line("connect")),
    ]
    assert await found.session.printed() == "200\n500\n"
    assert found.exit_code == 1


async def test_what_quart_logs_beside_a_request(api: Api, program: Write) -> None:
    app = program("""
        import asyncio

        import quart
        from quart.testing.connections import WebsocketDisconnectError, WebsocketResponseError

        app = quart.Quart(__name__)

        @app.websocket("/milk")
        async def socket():
            raise KeyError(await quart.websocket.receive())  # @socket

        @app.get("/later")
        async def later():
            app.add_background_task(work)
            return ""

        async def work():
            raise ValueError("later")  # @background

        async def main():
            client = app.test_client()
            async with app.test_app():
                try:
                    async with client.websocket("/milk") as socket:
                        await socket.send("milk")
                        await socket.receive()
                except (WebsocketDisconnectError, WebsocketResponseError):
                    pass
                print((await client.get("/later")).status_code)

        asyncio.run(main())
    """)
    found = await run(api, script=app.text)
    assert [stop.what for stop in found.stops] == [
        ("request", "KeyError", app.line("socket")),
        ("task", "ValueError", app.line("background")),
    ]
    assert [stop.view["ends_name"] for stop in found.stops] == ["websocket /milk", "background"]
    assert await found.session.printed() == "200\n"
    assert found.exit_code == 0


async def test_what_aiohttp_logs_while_a_response_begins(api: Api, program: Write) -> None:
    app = program("""
        import asyncio

        from aiohttp import ClientError, web
        from aiohttp.test_utils import TestClient, TestServer

        async def view(request):
            return web.Response()

        async def signal(request, response):
            raise KeyError("milk")  # @signal

        async def main():
            app = web.Application()
            app.add_routes([web.post("/", view)])
            app.on_response_prepare.append(signal)
            async with TestClient(TestServer(app)) as client:
                try:
                    await client.post("/")
                except ClientError as error:
                    print(type(error).__name__)

        asyncio.run(main())
    """)
    found = await run(api, script=app.text)
    (stop,) = found.stops
    assert stop.what == ("request", "KeyError", app.line("signal"))
    assert stop.view["ends_name"] == "POST /"
    assert await found.session.printed() == "ServerDisconnectedError\n"
    assert found.exit_code == 0


async def test_a_timeout_that_aiohttp_answers_by_a_504(api: Api, program: Write) -> None:
    app = program("""
        import asyncio

        from aiohttp import web
        from aiohttp.test_utils import TestClient, TestServer

        async def view(request):
            await asyncio.wait_for(asyncio.Event().wait(), 0.01)  # @view

        async def main():
            app = web.Application()
            app.add_routes([web.get("/slow", view)])
            async with TestClient(TestServer(app)) as client:
                print((await client.get("/slow")).status)

        asyncio.run(main())
    """)
    found = await run(api, script=app.text)
    (stop,) = found.stops
    assert stop.what == ("request", "TimeoutError", app.line("view"))
    assert stop.view["ends_name"] == "GET /slow"
    assert await found.session.printed() == "504\n"


async def test_what_sanic_logs_of_a_request_names_it(api: Api, program: Write) -> None:
    """It stands in for itself: it is not among what the tests are run with."""
    program("", "sanic/__init__.py")
    program("import logging\n\nerror_logger = logging.getLogger('sanic.error')\n", "sanic/log.py")
    program(
        """
        from sanic.log import error_logger

        class Request:
            method, path = "GET", "/price"

            def respond(self, middleware):
                try:
                    middleware()
                except Exception:
                    words = "Exception occurred in one of response middleware handlers"
                    error_logger.exception(words)

        def handle_exception(request, exception):
            error_logger.exception(exception, exc_info=True)

        def handle(request, handler):
            try:
                handler()
            except Exception as exception:
                handle_exception(request, exception)
        """,
        "sanic/app.py",
    )
    shop = program("""
        from sanic import app

        def middleware():
            raise KeyError("middleware")  # @middleware

        def stream():
            raise ValueError("stream")  # @stream

        request = app.Request()
        request.respond(middleware)
        app.handle(request, stream)
    """)
    found = await run(api, script=shop.text)
    assert [stop.what for stop in found.stops] == [
        ("request", "KeyError", shop.line("middleware")),
        ("request", "ValueError", shop.line("stream")),
    ]
    assert {stop.view["ends_name"] for stop in found.stops} == {"GET /price"}


async def test_a_method_of_xmlrpc(api: Api, program: Write) -> None:
    """A client is told by a Fault what it has done wrong, too."""
    app = program("""
        import threading
        import xmlrpc.client
        import xmlrpc.server

        def price(item):
            if item == "eggs":
                raise xmlrpc.client.Fault(1, "out of eggs")
            return {"bread": 3}[item]  # @price

        server = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False)
        server.register_function(price)
        threading.Thread(target=server.serve_forever).start()
        client = xmlrpc.client.ServerProxy(f"http://127.0.0.1:{server.server_address[1]}")

        def code(method, *arguments):
            try:
                return getattr(client, method)(*arguments)
            except xmlrpc.client.Fault as fault:
                return -fault.faultCode

        calls = ("price", "bread"), ("price", "eggs"), ("price",), ("nothing",), ("price", "milk")
        print(*(code(*call) for call in calls))
        server.shutdown()
        server.server_close()
    """)
    found = await run(api, script=app.text)
    (stop,) = found.stops
    assert stop.what == ("request", "KeyError", app.line("price"))
    assert await found.session.printed() == "3 -1 -1 -1 -1\n"
    assert found.exit_code == 0


async def test_a_record_of_the_log_keeps_its_place(api: Api, program: Write) -> None:
    logs = program("""
        import logging
        import sys

        import tornado.log

        logging.basicConfig(format="%(filename)s:%(lineno)d %(message)s", stream=sys.stdout)
        log = logging.getLogger("shop")
        log.error("one")  # @one
        try:
            1 / 0
        except ZeroDivisionError:
            log.exception("two", exc_info=False)  # @two
    """)
    found = await run(api, script=logs.text)
    name = logs.text.rpartition("/")[2]
    one, two = logs.line("one"), logs.line("two")
    assert await found.session.printed() == f"{name}:{one} one\n{name}:{two} two\n"
    assert found.stops == []


async def test_procedures_of_grpc(api: Api, program: Write) -> None:
    served = program("""
        import logging
        from concurrent import futures

        import grpc

        logging.disable()

        def price(request, context):
            raise KeyError("milk")  # @price

        def handled(request, context):
            context.abort(grpc.StatusCode.NOT_FOUND, "no milk")

        def each(request, context):
            yield b""
            raise ValueError("each")  # @each

        one = grpc.unary_unary_rpc_method_handler
        methods = {
            "price": one(price),
            "handled": one(handled),
            "each": grpc.unary_stream_rpc_method_handler(each),
        }
        server = grpc.server(futures.ThreadPoolExecutor(1))
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("shop", methods)])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            for name in methods:
                call = channel.unary_stream if name == "each" else channel.unary_unary
                try:
                    list(call(f"/shop/{name}")(b""))
                except grpc.RpcError as error:
                    print(error.code().name)
        server.stop(0).wait()
    """)
    found = await run(api, script=served.text)
    assert [stop.what for stop in found.stops] == [
        ("request", "KeyError", served.line("price")),
        ("request", "ValueError", served.line("each")),
    ]
    assert [stop.view["ends_name"] for stop in found.stops] == ["/shop/price", "/shop/each"]
    assert await found.session.printed() == "UNKNOWN\nNOT_FOUND\nUNKNOWN\n"


async def test_callbacks_of_tornado(api: Api, program: Write) -> None:
    calls = program("""
        import asyncio
        import logging

        from tornado.ioloop import IOLoop, PeriodicCallback

        logging.disable()

        async def lost():
            raise KeyError("lost")  # @lost

        async def main():
            over = asyncio.Event()

            def tick():
                over.set()
                raise ValueError("tick")  # @tick

            IOLoop.current().add_callback(lost)
            ticking = PeriodicCallback(tick, 1)
            ticking.start()
            await over.wait()
            ticking.stop()

        asyncio.run(main())
    """)
    found = await run(api, script=calls.text)
    assert [stop.what for stop in found.stops] == [
        ("task", "KeyError", calls.line("lost")),
        ("task", "ValueError", calls.line("tick")),
    ]
    assert {stop.view["ends_name"] for stop in found.stops} == {"Exception in callback"}


async def test_commands(api: Api, program: Write) -> None:
    shop = program(
        """
        import typer

        app = typer.Typer(pretty_exceptions_enable=False)

        @app.command()
        def price(item: str):
            prices = {"bread": 3}
            print(prices[item])  # @price

        if __name__ == "__main__":
            app()
    """,
        "shop.py",
    )
    found = await run(api, script=shop.text, args=["milk"])
    (stop,) = found.stops
    assert stop.what == ("process", "KeyError", shop.line("price"))
    suite = program(
        """
        from typer.testing import CliRunner
        from shop import app

        def test_expected():
            assert CliRunner().invoke(app, ["milk"]).exit_code == 1

        def test_fails():
            assert CliRunner().invoke(app, ["milk"]).exit_code == 0  # @assert
    """,
        "test_shop.py",
    )
    found = await run_tests(api, suite.text)
    (stop,) = found.stops
    assert stop.line == suite.line("assert")
    (earlier,) = stop.exception["chain"]
    assert (earlier["ends"], earlier["location"]["line"]) == ("command", shop.line("price"))


async def test_a_loop_that_is_written_in_c(api: Api, program: Write) -> None:
    app = program(
        """
        import asyncio
        import gc
        import uvloop

        async def forgotten():
            raise KeyError("forgotten")  # @task

        def call():
            raise ValueError("call")  # @call

        async def main():
            asyncio.get_running_loop().call_soon(call)
            asyncio.create_task(forgotten())
            await asyncio.sleep(0.01)
            gc.collect()

        uvloop.run(main())
        """
    )
    found = await run(api, script=app.text)
    assert sorted(stop.what for stop in found.stops) == [
        ("task", "KeyError", app.line("task")),
        ("task", "ValueError", app.line("call")),
    ]
    assert found.exit_code == 0


async def test_a_module_that_green_cannot_import(api: Api, program: Write) -> None:
    pytest.importorskip("green")
    broken = program("import nowhere  # @import\n", "test_broken.py")
    found = await run(api, module="green", args=["--processes", "1", "."])
    (stop,) = found.stops
    assert stop.what == ("process", "ModuleNotFoundError", broken.line("import"))


async def test_tests_of_ward(api: Api, program: Write) -> None:
    pytest.importorskip("ward")
    suite = program(
        """
        from ward import fixture, raises, test, xfail

        def price(item):
            prices = {"bread": 3}
            return prices[item]  # @price

        @fixture
        def shelf():
            raise OSError("empty")  # @shelf

        @test("a price is missing")  # @missing
        def _():
            price("cheese")

        @test("a price is looked for")
        def _():
            with raises(KeyError):
                price("milk")

        @xfail("known")
        @test("a price is known to be missing")
        def _():
            price("milk")

        @xfail("mended")  # @mended
        @test("a price is there")
        def _():
            price("bread")

        @test("a shelf is taken")  # @taken
        def _(place=shelf):
            pass
        """,
        "test_shop.py",
    )
    found = await run(api, module="ward", args=["--path", "test_shop.py"])
    missing, taken = found.stops
    assert missing.what == ("test", "KeyError", suite.line("price"))
    assert missing.locals["item"] == "'cheese'"
    assert taken.what == ("test", "OSError", suite.line("shelf"))
    assert found.tests == [
        f"test_shop:{suite.line('missing')} a price is missing",
        f"test_shop:{suite.line('taken')} a shelf is taken",
    ]
    report = (await found.session.get("/report", max_chars=4000))["report"]
    passed = f"test_shop:{suite.line('mended')} a price is there: unexpected pass"
    assert f"[no stop] {passed}" in report


CONNEXION = """
    import sys
    import connexion

    sys.modules["shop"] = sys.modules["__main__"]

    def price():
        prices = {"bread": 3}
        return prices["milk"]  # @price

    def handled():
        raise OSError

    def answer(request, error):
        return connexion.lifecycle.ConnexionResponse(status_code=400, body="")

    ok = {"responses": {"200": {"description": "ok"}}}
    paths = {f"/{name}": {"get": {"operationId": f"shop.{name}", **ok}} for name in ("price", "handled")}
    app = connexion.AsyncApp("shop")
    app.add_api({"openapi": "3.0.0", "info": {"title": "shop", "version": "1"}, "paths": paths})
    app.add_error_handler(OSError, answer)
    client = app.test_client(raise_server_exceptions=False)
    print(*(client.get(path).status_code for path in ("/price", "/handled", "/nowhere")))
"""

BLACKSHEEP = """
    import asyncio
    from blacksheep import Application, get, text
    from blacksheep.exceptions import NotFound
    from blacksheep.testing import TestClient

    app = Application()

    @get("/price")
    async def price():
        prices = {"bread": 3}
        return prices["milk"]  # @price

    @get("/handled")
    async def handled():
        raise OSError

    @get("/none")
    async def none():
        raise NotFound

    async def answer(self, request, error):
        return text("")

    app.exceptions_handlers[OSError] = answer

    async def ask():
        await app.start()
        client = TestClient(app)
        print(*[(await client.get(path)).status for path in ("/price", "/handled", "/none")])
        await app.stop()

    asyncio.run(ask())
"""

STRAWBERRY = """
    import strawberry

    @strawberry.type
    class Query:
        @strawberry.field
        def price(self) -> int:
            prices = {"bread": 3}
            return prices["milk"]  # @price

    schema = strawberry.Schema(query=Query)
    print(*(bool(schema.execute_sync(text).errors) for text in ("{ nothing }", "{ price }")))
"""

DOIT = """
    from doit.cmd_base import ModuleTaskLoader
    from doit.doit_cmd import DoitMain

    def price():
        prices = {"bread": 3}
        return {"price": prices["milk"]}  # @price

    def task_price():
        return {"actions": [price]}

    def task_fails():
        return {"actions": ["false"]}

    loader = ModuleTaskLoader({"task_price": task_price, "task_fails": task_fails})
    print(DoitMain(loader).run(["--db-file", ":memory:", "--backend", "sqlite3", "-c"]))
"""

CLEO = """
    from cleo.application import Application
    from cleo.commands.command import Command
    from cleo.io.inputs.string_input import StringInput

    class Price(Command):
        name = "price"

        def handle(self):
            prices = {"bread": 3}
            return prices["milk"]  # @price

    app = Application()
    app.auto_exits(False)
    app.add(Price())
    print(*(app.run(StringInput(words)) for words in ("nothing", "price --nothing", "price")))
"""


@pytest.mark.parametrize(
    ("package", "source", "ends", "printed"),
    [
        ("connexion", CONNEXION, "request", "500 400 404"),
        ("blacksheep", BLACKSHEEP, "request", "500 200 404"),
        ("strawberry", STRAWBERRY, "request", "True True"),
        ("doit", DOIT, "job", "2"),
        ("cleo", CLEO, "command", "1 1 1"),
    ],
)
async def test_rarer_frameworks(
    api: Api, program: Write, package: str, source: str, ends: str, printed: str
) -> None:
    pytest.importorskip(package)
    app = program(source)
    found = await run(api, script=app.text)
    assert printed in await found.session.printed()
    (stop,) = found.stops
    assert stop.what == (ends, "KeyError", app.line("price"))
    assert stop.locals["prices"] == "{'bread': 3}"


async def test_a_cell_of_a_notebook(api: Api, program: Write) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    client = program(
        """
        from nbclient import NotebookClient
        from nbclient.exceptions import CellExecutionError
        from nbformat.v4 import new_code_cell, new_notebook

        price = new_code_cell("def price(item):\\n    return {}[item]")
        expected = new_code_cell("price('milk')", metadata={"tags": ["raises-exception"]})
        try:
            NotebookClient(new_notebook(cells=[price, expected, new_code_cell("price(7)")])).execute()
        except CellExecutionError:
            print("failed")
        """
    )
    found = await run(api, script=client.text, debug_subprocesses=True)
    (stop,) = found.stops
    assert stop.what == ("command", "KeyError", 2)
    assert stop.locals["item"] == "7"
    assert await found.session.printed() == "failed\n"


async def test_what_scrapy_says_in_its_log_alone(api: Api, program: Write) -> None:
    """Its engine stands in for itself: it is not among what the tests are run with."""
    for package in ("scrapy", "scrapy/core"):
        program("", f"{package}/__init__.py")
    program(
        """
        import logging

        logger = logging.getLogger(__name__)

        def read(start):
            try:
                return next(start)
            except Exception as exception:
                logger.error(f"Error while reading start items and requests: {exception}.", exc_info=True)

        def process(step):
            try:
                step()
            except Exception:
                logger.error("Error while processing requests from start()", exc_info=True)

        def warn():
            try:
                int("x")
            except ValueError:
                logger.error("This is what a spider has closed for", exc_info=True)
        """,
        "scrapy/core/engine.py",
    )
    spider = program(
        """
        from scrapy.core import engine

        def start():
            prices = {}
            yield prices["milk"]  # @start

        def enqueue():
            wanted = None
            wanted.push(3)  # @enqueue

        engine.read(start())
        engine.process(enqueue)
        engine.warn()
        """
    )
    found = await run(api, script=spider.text)
    assert [stop.what for stop in found.stops] == [
        ("task", "KeyError", spider.line("start")),
        ("task", "AttributeError", spider.line("enqueue")),
    ]
    assert found.stops[0].locals == {"prices": "{}"}
    assert found.exit_code == 0


async def test_what_django_says_in_its_log_alone(api: Api, program: Write) -> None:
    shop = program("""
        import django
        from django.conf import settings

        database = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
        settings.configure(DATABASES={"default": database}, LOGGING_CONFIG=None)
        django.setup()

        from django.db import transaction
        from django.dispatch import Signal, receiver

        sold = Signal()

        @receiver(sold)
        def receive(**about):
            raise KeyError("sold")  # @receive

        def commit():
            raise ValueError("commit")  # @commit

        sold.send_robust(None)
        transaction.on_commit(commit, robust=True)
    """)
    found = await run(api, script=shop.text)
    assert [stop.what for stop in found.stops] == [
        ("task", "KeyError", shop.line("receive")),
        ("task", "ValueError", shop.line("commit")),
    ]
    assert [stop.view["ends_name"].replace("commit in", "… in") for stop in found.stops] == [
        "Error calling … in Signal.send_robust()",
        "Error calling … in on_commit()",
    ]


async def test_what_a_middleware_of_scrapys_raises(api: Api, program: Write) -> None:
    """Its logs stand in for themselves, as above. A server that is not there is logged in the same way."""
    program("", "scrapy/__init__.py")
    program(
        "class LogFormatter:\n    def download_error(self, *_):\n        pass\n",
        "scrapy/logformatter.py",
    )
    spider = program("""
        import types

        from scrapy.logformatter import LogFormatter
        from twisted.internet import error
        from twisted.python.failure import Failure

        def process_request(request):
            raise KeyError(request.url)  # @middleware

        request = types.SimpleNamespace(method="GET", url="http://shop/price")
        try:
            process_request(request)
        except KeyError:
            failure = Failure()
        LogFormatter().download_error(failure, request, None)
        LogFormatter().download_error(Failure(error.ConnectionRefusedError()), request, None)
    """)
    found = await run(api, script=spider.text)
    (stop,) = found.stops
    assert stop.what == ("request", "KeyError", spider.line("middleware"))
    assert stop.view["ends_name"] == "GET http://shop/price"


async def test_what_a_signal_handler_of_scrapys_does(api: Api, program: Write) -> None:
    """It stands in for itself, as above. Its message is yet to be filled in."""
    for package in ("scrapy", "scrapy/utils"):
        program("", f"{package}/__init__.py")
    program(
        """
        import logging

        logger = logging.getLogger(__name__)

        def send(receiver):
            try:
                receiver()
            except Exception:
                said = {"receiver": receiver}
                logger.error("Error caught on signal handler: %(receiver)s", said, exc_info=True)
        """,
        "scrapy/utils/signal.py",
    )
    spider = program("""
        from scrapy.utils import signal

        def closed():
            raise KeyError("closed")  # @closed

        signal.send(closed)
    """)
    found = await run(api, script=spider.text)
    (stop,) = found.stops
    assert stop.what == ("task", "KeyError", spider.line("closed"))
    assert stop.view["ends_name"] == "Error caught on signal handler"
