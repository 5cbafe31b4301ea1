"""Real NetBox and Nautobot servers beside the tests: installed once, started from a migrated database in seconds.

    apt-get install postgresql redis-server libpq-dev gcc
    python -m tests.deliver.inventory.live install netbox    # 10 minutes of CPU, most of it migrations
    python -m tests.deliver.inventory.live serve netbox      # prints URL and token, until Ctrl-C

The servers are from PyPI. Each has a folder below HOME, an environment of Python with `config` and `data` in it: a cluster of
PostgreSQL whose migrations have run. A server gets a copy of `data` and listens on loopback alone; the copy is deleted at the
end.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.system.versions import pythons
from tests.waiting import wait_for

HOME = Path(os.environ.get("INVENTORY_SERVERS", "/var/cache/fabricwright/inventory"))
DEBIAN = "apt-get install postgresql redis-server libpq-dev gcc"
TOKEN = "0123456789abcdef0123456789abcdef01234567"
OWNER = "postgres"  # a database server does not run as root
DATABASE = "inventory"
SECRET = "0123456789" * 6
WORKERS = 2  # processes of a server


@dataclass(frozen=True)
class Server:
    """A system as PyPI has it."""

    packages: tuple[str, ...]
    python: int  # oldest minor version of Python 3 that it takes
    command: str  # Django's, in the environment
    wsgi: str
    config: tuple[str, str]  # name and text of its file
    models: str  # module of its tokens
    token: Mapping[str, object]  # fields of one
    environment: Mapping[str, str]


_DATABASES = f"""
import os
ALLOWED_HOSTS = ["127.0.0.1"]
SECRET_KEY = "{SECRET}"
_RUN = os.environ["INVENTORY_RUN"]
_PORT = int(os.environ["INVENTORY_REDIS"])
DATABASES = {{"default": {{
    "ENGINE": "django.db.backends.postgresql", "NAME": "{DATABASE}", "USER": "{OWNER}", "PASSWORD": "", "HOST": _RUN,
}}}}
"""
_NETBOX = f"""{_DATABASES}
_REDIS = {{"HOST": "127.0.0.1", "PORT": _PORT, "USERNAME": "", "PASSWORD": "", "SSL": False}}
REDIS = {{"tasks": {{**_REDIS, "DATABASE": 0}}, "caching": {{**_REDIS, "DATABASE": 1}}}}
API_TOKEN_PEPPERS = {{1: "{SECRET}"}}
"""
_NAUTOBOT = f"""from nautobot.core.settings import *
{_DATABASES}
_REDIS = f"redis://127.0.0.1:{{_PORT}}"
CACHES = {{"default": {{
    "BACKEND": "django_redis.cache.RedisCache", "LOCATION": _REDIS + "/1",
    "OPTIONS": {{"CLIENT_CLASS": "django_redis.client.DefaultClient"}},
}}}}
CELERY_BROKER_URL = _REDIS + "/0"
INSTALLATION_METRICS_ENABLED = False
"""
_USER = """
from django.contrib.auth import get_user_model
from {models} import Token
user = get_user_model().objects.create_superuser("admin", "admin@example.net", "admin")
Token.objects.create(user=user, **{token})
"""
SERVERS = {
    "netbox": Server(
        packages=("netbox==4.7.*", "gunicorn"),
        python=12,
        command="netbox",
        wsgi="netbox.wsgi",
        config=("inventory_configuration.py", _NETBOX),
        models="users.models",
        token={"version": 1, "token": TOKEN},
        environment={"NETBOX_CONFIGURATION": "inventory_configuration", "DJANGO_SETTINGS_MODULE": "netbox.settings"},
    ),
    "nautobot": Server(
        packages=("nautobot==3.2.*", "gunicorn"),
        python=11,
        command="nautobot-server",
        wsgi="nautobot.core.wsgi",
        config=("nautobot_config.py", _NAUTOBOT),
        models="nautobot.users.models",
        token={"key": TOKEN},
        environment={"NAUTOBOT_CONFIG": str(HOME / "nautobot" / "config" / "nautobot_config.py")},
    ),
}


def why_not(name: str) -> str:
    """Why a system cannot be started here, "" where it can."""
    if not (HOME / name / "data" / "PG_VERSION").exists():
        return f"no {name} in {HOME}: python -m tests.deliver.inventory.live install {name}"
    return _absent()


def _absent() -> str:
    """What Debian's packages would add, "" for nothing."""
    return "" if shutil.which("redis-server") and _postgres() else f"no PostgreSQL or Redis: {DEBIAN}"


def _postgres() -> Path | None:
    """Folder of the programs of the newest PostgreSQL."""
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None, key=lambda path: int(path.parent.name))


def install(name: str) -> None:
    """Environment, database and user of a system, in its folder. Raises CalledProcessError, AssertionError."""
    server, home = SERVERS[name], HOME / name
    usable = [path for minor, path in sorted(pythons().items()) if minor >= server.python]
    assert usable, f"{name} needs Python 3.{server.python} or later"
    assert not _absent(), _absent()
    if not (home / "bin" / server.command).exists():
        subprocess.run([usable[0], "-m", "venv", home], check=True)
        subprocess.run([home / "bin" / "pip", "install", "--quiet", *server.packages], check=True)
    (home / "config").mkdir(exist_ok=True)
    file, text = server.config
    (home / "config" / file).write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder)
        run.chmod(0o755)
        _as_owner(
            _tool("initdb"), "--username", OWNER, "--auth", "trust", "--encoding", "UTF8", "--pgdata", _owned(run / "data")
        )
        with _database(run), _redis(run) as environment:
            _as_owner(_tool("createdb"), "--host", str(run), "--username", OWNER, DATABASE)
            command = [home / "bin" / server.command]
            environment = _environment(name, environment)
            subprocess.run([*command, "migrate", "--no-input"], env=environment, check=True, stdout=subprocess.DEVNULL)
            script = _USER.format(models=server.models, token=dict(server.token))
            subprocess.run([*command, "shell", "--command", script], env=environment, check=True)
        shutil.copytree(run / "data", home / "data")


@contextmanager
def running(name: str) -> Iterator[str]:
    """A fresh server of a system; gives its URL. Its token is TOKEN."""
    assert not why_not(name), why_not(name)
    server, home = SERVERS[name], HOME / name
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder:
        run = Path(folder)
        run.chmod(0o755)
        subprocess.run(["cp", "-r", home / "data", run / "data"], check=True)
        _owned(run / "data")
        with _database(run), _redis(run) as environment:
            port = _free_port()
            words = [home / "bin" / "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", str(WORKERS), "--timeout", "600"]
            words += ["--graceful-timeout", "1"]
            with _process([*words, server.wsgi], run / "server.log", _environment(name, environment)) as process:
                url = f"http://127.0.0.1:{port}"
                wait_for(lambda: process.poll() is not None or _answers(url), f"no answer of {name}", 0.2)
                assert process.poll() is None, (run / "server.log").read_text(encoding="utf-8")[-4000:]
                yield url


def _environment(name: str, more: Mapping[str, str]) -> dict[str, str]:
    home = HOME / name
    paths = {"PYTHONPATH": str(home / "config"), "NETBOX_ROOT": str(home), "NAUTOBOT_ROOT": str(home)}
    return {**os.environ, **SERVERS[name].environment, **paths, **more}


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{url}/api/status/", headers={"Authorization": f"Token {TOKEN}"})
        ):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


@contextmanager
def _database(run: Path) -> Iterator[None]:
    """PostgreSQL on the cluster of a folder, at a socket in this folder. The data is on disk when it ends."""
    owner = _owned(run / "socket")
    options = f"-c listen_addresses= -c unix_socket_directories={run} -c fsync=off -c autovacuum=off"
    shutil.chown(run, OWNER)
    words = (_tool("pg_ctl"), "--wait", "--pgdata", str(run / "data"))
    _as_owner(*words, "--log", f"{owner}/log", "--options", options, "start")
    try:
        yield
    finally:
        _as_owner(*words, "--mode", "fast", "stop")


@contextmanager
def _redis(run: Path) -> Iterator[dict[str, str]]:
    """Redis on a free port; gives what a configuration takes from the environment."""
    port = _free_port()
    words = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(run)]
    with _process(words, run / "redis.log", os.environ):
        wait_for(lambda: _connects(port), "no Redis")
        yield {"INVENTORY_RUN": str(run), "INVENTORY_REDIS": str(port)}


@contextmanager
def _process(words: list[str | Path], log: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as stream:
        process = subprocess.Popen(words, stdout=stream, stderr=stream, env=dict(environment))
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


def _as_owner(*words: str) -> None:
    """A program of PostgreSQL, as the user that may run it."""
    prefix = ["runuser", "-u", OWNER, "--"] if os.geteuid() == 0 else []
    subprocess.run([*prefix, *words], check=True, stdout=subprocess.DEVNULL, cwd="/")


def _owned(folder: Path) -> str:
    """A folder of the database's user."""
    folder.mkdir(exist_ok=True)
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", OWNER, folder], check=True)
    folder.chmod(0o700)
    return str(folder)


def _tool(name: str) -> str:
    folder = _postgres()
    assert folder is not None, DEBIAN
    return str(folder / name)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _connects(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0
