"""The files of `deploy/` say the same: names, ports and variables, and commands that exist."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from typing import Any

import click
import pytest
import yaml

from relay.command_line import CONTEXT, cli
from relay.config import RELAY_ID, Settings, variable_of
from tests.deploy.fleet import CONFIGURATION, DEPLOY, IDS

PROXY = CONFIGURATION.read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
IMAGE = (DEPLOY / "Dockerfile").read_text()


def manifests(name: str) -> list[dict[str, Any]]:
    text = (DEPLOY / "kubernetes" / name).read_text()
    return [one for one in yaml.safe_load_all(text) if one]


def one_of(name: str, kind: str) -> dict[str, Any]:
    (found,) = [one for one in manifests(name) if one["kind"] == kind]
    return found


def variables(container: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one.get("value") for one in container["env"]}


SET = dict(re.findall(r"^ *setenv (\w+) '(.*)'$", PROXY, re.MULTILINE))
NEEDED = set(re.findall(r"\$\{(\w+)\}", PROXY)) - set(SET)


def test_the_proxy_knows_a_backend_for_each_relay() -> None:
    assert {"LISTEN", "RELAY_TOKEN", "R0", "R1", "R2"} == NEEDED
    assert re.findall(r"^backend sess_(\w+)$", PROXY, re.MULTILINE) == list(IDS)
    assert all(RELAY_ID.fullmatch(name) for name in IDS)


def test_its_own_answer_has_the_envelope_of_a_relays() -> None:
    """What it says is tried behind a real one; each of the ways in which a relay may be gone says it."""
    answer = json.loads(SET["GONE"])
    assert set(answer) == {"success", "data", "error", "meta"}
    assert re.findall(r"http-error status (\d+) .* lf-string \"\$\{GONE\}\"", PROXY) == [
        "502",
        "503",
        "504",
    ]
    assert set(answer["error"]) == {"code", "message", "details"}


def test_it_waits_longer_than_any_request() -> None:
    for side in ("client", "server"):
        (seconds,) = re.findall(rf"timeout {side} (\d+)s", PROXY)
        assert int(seconds) > 300


def test_compose_starts_what_the_proxy_expects() -> None:
    services = COMPOSE["services"]
    assert set(services) == {*IDS, "proxy"}
    for name in IDS:
        given = services[name]["environment"]
        assert given["RELAY_ID"] == name
        assert set(given) <= {variable_of(setting) for setting in Settings.model_fields}
    proxy = services["proxy"]["environment"]
    assert set(proxy) == NEEDED
    assert [proxy[name.upper()] for name in IDS] == [f"{name}:5679" for name in IDS]
    assert services["proxy"]["ports"] == ["127.0.0.1:5679:5679"]


def test_kubernetes_starts_what_the_proxy_expects() -> None:
    relays, proxy = one_of("relays.yaml", "StatefulSet"), one_of("proxy.yaml", "Deployment")
    service = one_of("relays.yaml", "Service")
    assert relays["spec"]["replicas"] == len(IDS)
    assert relays["spec"]["serviceName"] == service["metadata"]["name"]
    (relay,) = relays["spec"]["template"]["spec"]["containers"]
    assert variables(relay)["RELAY_ID"] == "r$(POD_INDEX)"
    (container,) = proxy["spec"]["template"]["spec"]["containers"]
    given = variables(container)
    assert set(given) == NEEDED
    for at, name in enumerate(IDS):
        host = f"{relays['metadata']['name']}-{at}.{service['metadata']['name']}"
        assert given[name.upper()] == f"{host}:5679"
    for one in (*manifests("relays.yaml"), *manifests("proxy.yaml")):
        labels = one["spec"]["selector"]
        labels = labels.get("matchLabels", labels)
        assert labels in ({"app": "debug-relay"}, {"app": "debug-relay-proxy"})


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomize_puts_them_together() -> None:
    done = subprocess.run(
        ["kubectl", "kustomize", str(DEPLOY)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    made = list(yaml.safe_load_all(done.stdout))
    (config,) = [one for one in made if one["kind"] == "ConfigMap"]
    assert config["data"] == {"haproxy.cfg": PROXY}
    assert config["metadata"]["name"] in done.stdout.split("kind: Deployment")[1]


def test_the_image_and_the_sidecar_start_a_relay_as_it_can_be_started() -> None:
    (shell,) = re.findall(r'exec (relay serve .*?)"\]', IMAGE)
    (sidecar,) = [
        one["command"]
        for one in one_of("sidecar.yaml", "Pod")["spec"]["containers"]
        if one["name"] == "relay"
    ]
    for words in (shlex.split(shell), sidecar):
        assert words[:2] == ["relay", "serve"]
        parent = click.Context(cli, **CONTEXT)
        command = cli.get_command(parent, "serve")
        assert command is not None
        # Without its parent it would remember other options of help.
        with command.make_context("serve", words[2:], parent) as context:
            assert not context.args


@pytest.mark.parametrize(
    ("name", "kind", "container"),
    [
        ("relays.yaml", "StatefulSet", "relay"),
        ("proxy.yaml", "Deployment", "haproxy"),
        ("sidecar.yaml", "Pod", "relay"),
    ],
)
def test_nothing_may_do_more_than_it_needs(name: str, kind: str, container: str) -> None:
    pod = one_of(name, kind)["spec"]
    pod = pod.get("template", {"spec": pod})["spec"]
    (found,) = [one for one in pod["containers"] if one["name"] == container]
    assert found["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["securityContext"]["runAsUser"] != 0
    volumes = {one["name"] for one in pod.get("volumes", [])} | {"state"}
    assert {one["name"] for one in found["volumeMounts"]} <= volumes
    written = {one["mountPath"] for one in found["volumeMounts"]}
    assert container != "relay" or written == {"/state", "/tmp"}


def test_the_image_runs_as_the_user_of_the_manifests_by_number() -> None:
    (user,) = re.findall(r"^USER (.*)$", IMAGE, re.MULTILINE)
    pod = one_of("relays.yaml", "StatefulSet")["spec"]["template"]["spec"]
    assert user == str(pod["securityContext"]["runAsUser"])
    assert f"--uid {user} relay" in IMAGE


def test_the_version_of_the_wheel_in_the_image_comes_from_git() -> None:
    stages = re.split(r"^FROM .*$", IMAGE, flags=re.MULTILINE)[1:]
    (building,) = [one for one in stages if "pip wheel" in one]
    assert re.search(r"install .*\bgit\b", building)
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert "!.git" in ignored


def test_the_image_sets_settings_that_exist() -> None:
    known = {variable_of(setting) for setting in Settings.model_fields}
    assert set(re.findall(r"\bRELAY_\w+", IMAGE)) <= known
