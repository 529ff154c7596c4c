"""The `geode-traj` command: verbs are loaded when they are called, errors leave as one line and a code."""

from __future__ import annotations

import gc
import importlib
import io
import os
import pkgutil
import re
import signal
import sys
from typing import Any

import click

from geode_traj import __version__
from geode_traj.cli import config, verbs
from geode_traj.cli.output import error_line, note
from geode_traj.codec.text import neutralise
from geode_traj.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_PARTIAL, EXIT_USAGE, TrajError, WorldError

# Verbs whose names cannot be module names here, or would hide a builtin.
_MODULES = {"list": "list_"}


# Loading code makes many objects and no garbage: a start is over before the first collection is worth it.
_OBJECTS = 50_000
_SURROGATE = re.compile("[\ud800-\udfff]")


class Verbs(click.Group):
    """A group whose commands are the modules of `cli.verbs`, imported one at a time to start fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the pipeline, others after."""
        names = [module.name.rstrip("_") for module in pkgutil.iter_modules(verbs.__path__)]
        order = "migrate list show session export verify scan review fmt release prune keys".split()
        return sorted(names, key=lambda name: (order.index(name) if name in order else 99, name))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb's module and return its command, None for an unknown verb."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{verbs.__name__}.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = module.command
        return command


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", message="geode-traj %(version)s")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Agent transcripts in; verified, reviewed, signed trajectory releases out.

    migrate → list/show → export → verify → scan → review → release stage/sign/publish/check.
    Results go to stdout, everything else to stderr. `geode-traj explain CODE` tells what a code means.

    Exit codes: 0 done, 1 findings or incomplete, 2 usage, 3 partly done, 4 refused, 5 no input, 6 unknown
    signer, 10 integrity, 11 the store is busy, 12 the output exists, 70 a bug, 130 interrupted.
    """


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code (cli.md); no traceback leaves except for a bug."""
    try:
        context: dict[str, Any] = {"default_map": config.default_map(), "auto_envvar_prefix": "GEODE_TRAJ"}
        result = root.main(arguments, prog_name="geode-traj", standalone_mode=False, **context)
        if sys.stdout is not None:
            sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        note(shown.getvalue().rstrip("\n"))
        return EXIT_USAGE
    except click.Abort:
        note("interrupted; a rerun resumes")
        return EXIT_INTERRUPTED
    except KeyboardInterrupt:
        note("interrupted; a rerun resumes")
        return EXIT_INTERRUPTED
    except TrajError as error:
        error_line(error)
        return error.exit_code
    except BrokenPipeError:
        # The reader went away; stdout must not complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_INTERRUPTED
    except OSError as error:
        error_line(WorldError("TE201", path=neutralise(str(error.filename or "")), why=error.strerror or "?"))
        return EXIT_PARTIAL
    except Exception as error:
        given = sys.argv[1:] if arguments is None else arguments
        if isinstance(error, UnicodeEncodeError) and any(map(_SURROGATE.search, given)):
            error_line(WorldError("TE101", what="an argument", why="it is not valid UTF-8"))
            return EXIT_USAGE
        _report_bug(error)
        return EXIT_INTERNAL


def _report_bug(error: Exception) -> None:
    """Print a report to paste: where it happened, never a value."""
    import traceback

    note(f"internal error TE199: {type(error).__name__}; this is a bug. Please report the following:")
    note(f"  geode-traj {__version__}, Python {sys.version.split()[0]}, {sys.platform}")
    for frame in traceback.extract_tb(error.__traceback__)[-8:]:
        note(f"  {frame.filename.rpartition('geode_traj')[2] or '…'}:{frame.lineno} in {frame.name}")


def run() -> None:
    """Entry point of the console script."""
    # A plain kill must clean up like Ctrl-C: what is half made is private.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    gc.set_threshold(_OBJECTS)
    code = main()
    gc.freeze()  # what is left goes with the process: a last collection would walk all of it for nothing
    sys.exit(code)
