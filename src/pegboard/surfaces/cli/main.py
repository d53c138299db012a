"""The program `pegboard`: its options and commands.

The module of a command is imported when the command runs, so that `--help` and each command load only what they need.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from pegboard.surfaces.cli.exit_codes import CommandFailure, UsageError
from pegboard.surfaces.cli.output import write_message
from pegboard.surfaces.cli.session import DEFAULT_URL, CliSession, accept_shared_options
from pegboard.version import __version__

# The name of a command, its function (`name` or `module:name`), its summary, and its settings.
CommandEntry = tuple[str, str, str] | tuple[str, str, str, Mapping[str, Any]]


class LazyCommand(TyperCommand):
    """A name and a summary for the help of the group; the command itself is loaded to parse its arguments."""

    def __init__(
        self, module: str, name: str, function: str, summary: str, settings: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(name, help=summary, rich_markup_mode=None)
        self._function = function if ":" in function else f"{module}:{function}"
        self._settings = dict(settings or {})

    def make_context(self, *words: Any, **extra: Any) -> Any:
        """Return a context of the command itself."""
        return self.load().make_context(*words, **extra)

    def load(self) -> Any:
        """Import the function and return its command."""
        module, _, name = self._function.partition(":")
        function = getattr(import_module(f"pegboard.surfaces.cli.{module}"), name)
        settings = dict(self._settings)
        if settings.pop("shared_options", True):
            function = accept_shared_options(function)
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(self.name, **settings)(function)
        return get_command(app)


class CommandGroup(TyperGroup):
    """A group of commands whose functions are in `module`; `default` runs if the first argument names no command.

    Without arguments, the group prints its help, unless the default command runs without arguments.
    """

    def __init__(
        self,
        name: str,
        summary: str,
        module: str,
        *commands: CommandEntry,
        default: str = "",
        runs_without_arguments: bool = False,
    ) -> None:
        super().__init__(name=name, help=summary, no_args_is_help=not runs_without_arguments, rich_markup_mode=None)
        self._default = default
        for command in commands:
            self.add_command(LazyCommand(module, *command))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the name of the default command if the first argument names no command."""
        is_named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        if self._default and not is_named and (args or not self.no_args_is_help):
            args = [self._default, *args]
        return super().parse_args(ctx, args)


_NO_SHARED_OPTIONS = {"shared_options": False}
_UNKNOWN_OPTIONS = {"context_settings": {"ignore_unknown_options": True}}
# Every command in the order of the help: its name, the function that runs it, and its summary.
COMMANDS: tuple[CommandEntry | CommandGroup, ...] = (
    (
        "serve",
        "maintenance_commands:serve_board",
        "Run the server; Ctrl-C lets running calls end, then stops.",
        _NO_SHARED_OPTIONS,
    ),
    ("call", "call_commands:call_tool", "Call a tool and print its result.", _UNKNOWN_OPTIONS),
    (
        "watch",
        "call_commands:watch_calls",
        "Show calls as they start, progress and end; an admin sees those of all users.",
    ),
    ("running", "call_commands:list_running", "List the calls that run now; an admin sees those of all users."),
    ("cancel", "call_commands:cancel_call", "Cancel a running call; its caller gets the error `cancelled`."),
    ("codes", "reference_commands:list_codes", "Explain the error codes of calls, or one of them."),
    ("definitions", "call_commands:show_definitions", "Print the tool definitions for a model."),
    (
        "normalize",
        "call_commands:normalize_payload",
        "Show the tool calls in a message, response, text or stream of any dialect; runs nothing.",
    ),
    ("apply", "apply_commands:apply_definitions", "Make the board match files of tool definitions."),
    ("export", "edit_commands:export_definitions", "Write tool definitions as files for `apply`."),
    (
        "console",
        "console_command:open_console",
        "Open the web console in the browser, logged in as the user of this key.",
    ),
    ("whoami", "account_commands:show_current_user", "Show the user of this key."),
    ("migrate", "maintenance_commands:migrate_database", "Apply the database migrations."),
    ("doctor", "maintenance_commands:run_doctor", "Check this installation and print what to fix."),
    CommandGroup(
        "tools",
        "Register, change, list and remove tools.",
        "tool_commands",
        ("list", "list_tools", "List the tools you may see, by name."),
        ("show", "edit_commands:show_tool", "Show one tool, secrets masked."),
        ("add", "apply_commands:add_tools", "Register the tools that a file defines, all of them or none."),
        ("edit", "edit_commands:edit_tool", "Change a tool, in $EDITOR if no fields are given."),
        ("remove", "remove_tool", "Remove a tool. Undo with: pegboard tools restore NAME."),
        ("restore", "restore_tool", "Restore a removed tool."),
        ("accept", "import_commands:accept_tool", "Accept the changed definition of a tool from its MCP server."),
        ("versions", "list_versions", "List the versions of a tool, newest first."),
        ("kinds", "reference_commands:list_kinds", "List the kinds of tools, or show one with an example."),
        (
            "lint",
            "lint_tools",
            "Report what providers refuse or misread in tool definitions, and their size in tokens.",
        ),
    ),
    CommandGroup(
        "import",
        "Import tools from an OpenAPI document or an MCP server.",
        "import_commands",
        ("openapi", "import_openapi", "Make a tool of each operation in an OpenAPI or Swagger document."),
        (
            "list",
            "list_sources",
            "List the API documents that tools were imported from; an admin sees those of all users.",
        ),
        (
            "mcp",
            "import_mcp",
            "Import the tools, prompts and resources of an MCP server.",
            _UNKNOWN_OPTIONS,
        ),
    ),
    CommandGroup(
        "upstreams",
        "Show and remove the MCP servers that were imported.",
        "upstream_commands",
        ("list", "list_upstreams", "List the imported MCP servers; an admin sees those of all users."),
        ("origins", "list_origins", "List the servers that HTTP tools call, and whether calls to them fail."),
        ("show", "show_upstream", "Show an imported MCP server: its state, tools, prompts and resources."),
        (
            "check",
            "check_upstream",
            "Compare an imported MCP server with what it offers now, and mark what it has changed.",
        ),
        (
            "accept",
            "accept_upstream",
            "Accept the changed prompts, resources and templates of an imported MCP server, or one of them.",
        ),
        (
            "remove",
            "remove_upstream",
            "Remove an imported MCP server with its prompts, resources and credentials; its tools stay.",
        ),
    ),
    CommandGroup(
        "mcp",
        "Serve the tools to an MCP client over standard input and output: pegboard mcp.",
        "mcp_command",
        (
            "serve",
            "serve_mcp",
            "Serve the tools to an MCP client over standard input and output.",
        ),
        (
            "config",
            "mcp_config_command:print_client_config",
            "Print the configuration with which an MCP client uses the tools.",
        ),
        default="serve",
        runs_without_arguments=True,
    ),
    CommandGroup(
        "tables",
        "Make tools from database tables, and check them.",
        "table_commands",
        ("list", "list_tables", "List the tables in use, and the problems of those that cannot be used; for admins."),
        ("reload", "reload_tables", "Reload the server's tables file now; for admins."),
        ("check", "check_tables", "Check a tables file against its databases."),
        ("init", "init_tables", "Write a tables file from the tables of a database."),
    ),
    CommandGroup(
        "audit",
        "Read the journal of calls.",
        "audit_commands",
        ("list", "list_executions", "List calls, newest first: your own; for an admin, those of all users."),
        ("show", "show_execution", "Show the journal row of one call."),
        ("proof", "prove_execution", "Verify the journal row of one call against its hash chain."),
        ("stats", "show_statistics", "Show calls, errors and latencies of each tool in the last day."),
        ("replay", "replay_execution", "Run a recorded call again and show what differs."),
        (
            "verify",
            "audit_chain_commands:verify_journal",
            "Verify the journal against its hash chain and list every violation; for admins.",
        ),
        (
            "export",
            "audit_chain_commands:export_journal",
            "Write the journal with its hash chain as JSON Lines; for admins.",
        ),
        (
            "prune",
            "audit_chain_commands:prune_journal",
            "Remove the oldest rows of the journal, so that the rest still verifies; for admins.",
        ),
    ),
    CommandGroup(
        "chains",
        "Run steps that refer to each other, or save them as tools.",
        "chain_commands",
        ("run", "run_chain", "Run a chain and print its result."),
        ("save", "save_chain", "Save a chain as a tool."),
        ("list", "list_chains", "List saved chains."),
        ("show", "show_chain", "Show the steps of a saved chain."),
    ),
    CommandGroup(
        "threads",
        "Read and write conversations; only their owner can see them.",
        "conversation_commands",
        ("list", "list_threads", "List your threads, last changed first."),
        ("show", "show_thread", "Show the messages of a thread, oldest first, with calls and results."),
        ("new", "create_thread", "Create a thread and print its id."),
        ("add", "add_messages", "Add messages to a thread."),
        ("rename", "rename_thread", "Change the title of a thread."),
        ("remove", "remove_thread", "Remove a conversation with all its messages; this cannot be undone."),
    ),
    CommandGroup(
        "baseline",
        "Distinguish new findings from known ones.",
        "baseline_commands",
        (
            "record",
            "record_findings",
            "Record that findings were seen: {finding_id, composite_hash, seen_at?} each, all of them or none.",
        ),
        ("resolve", "resolve_findings", "Mark findings resolved, until they are seen again; all of them or none."),
        (
            "query",
            "query_findings",
            "Show the baseline status of findings, in the given order; calls batch_baseline_query.",
        ),
        ("list", "list_findings", "List the findings of a baseline, in the order of their hashes."),
        (
            "remove",
            "remove_findings",
            "Remove a finding from the baseline, as if it had never been seen, or all findings of one status.",
        ),
        ("hash", "hash_findings", "Print the composite hash of each finding's content, without a server."),
    ),
    CommandGroup(
        "mock",
        "Serve answers from a file: pegboard mock FIXTURES.",
        "mock_commands",
        (
            "serve",
            "serve_fixtures",
            "Serve fixed answers from a file; the word `serve` is optional.",
            _NO_SHARED_OPTIONS,
        ),
        ("record", "record_journal", "Write fixtures from the journal: arguments and results of recorded calls."),
        default="serve",
    ),
    CommandGroup(
        "demo",
        "Sample users, agents, tools and calls, to try a board.",
        "demo_commands",
        (
            "traffic",
            "make_demo_traffic",
            "Add sample users, agents and tools to a running server, and make calls with them; for admins.",
        ),
        (
            "remove",
            "remove_demo_data",
            "Remove the users, agents, tools and conversations of demo traffic; the journal keeps its rows.",
        ),
    ),
    CommandGroup(
        "contract",
        "Check whether tools comply with the contract of envelopes.",
        "contract_command",
        (
            "check",
            "check_contract",
            "Run the five compliance tests: schema, determinism, errors, performance, ordering.",
        ),
    ),
    CommandGroup(
        "users",
        "Manage the users of the board.",
        "account_commands",
        ("list", "list_users", "List the users, oldest first."),
        ("add", "add_user", "Add a user; give them a key with: pegboard keys create NAME."),
        ("edit", "edit_user", "Rename a user or change their role."),
        ("remove", "remove_user", "Remove a user and revoke all their keys."),
    ),
    CommandGroup(
        "keys",
        "Create and revoke keys.",
        "account_commands",
        ("create", "create_key", "Create a key and print it. It is shown only once."),
        ("list", "list_keys", "List a user's keys (never the secret part)."),
        ("revoke", "revoke_key", "Revoke a key; it becomes invalid at once."),
    ),
    CommandGroup(
        "agents",
        "Manage agents and their tools.",
        "account_commands",
        ("list", "list_agents", "List your agents; an admin sees those of all users."),
        ("add", "add_agent", "Create an agent with tools."),
        ("show", "show_agent", "Show one agent and its tools."),
        (
            "edit",
            "edit_agent",
            "Change an agent: --add-tool and --remove-tool change single tools, --tool replaces all.",
        ),
        ("remove", "remove_agent", "Remove an agent; keys that are bound to it become invalid."),
        ("definitions", "show_agent_definitions", "Print the tool definitions of an agent."),
    ),
    CommandGroup(
        "secrets",
        "Store the credentials that tools use.",
        "account_commands",
        ("set", "set_secret", "Set a secret; tools refer to it as {{secret:NAME}}."),
        ("list", "list_secrets", "List your secrets, without their values."),
        ("remove", "remove_secret", "Remove a secret; calls of tools that refer to it fail with that reason."),
        ("rotate", "rotate_secrets", "Encrypt every credential again with a new key."),
    ),
)


class Program(TyperGroup):
    """The root group: prints a CommandFailure and exits with its exit code."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for command in COMMANDS:
            self.add_command(command if isinstance(command, CommandGroup) else LazyCommand("", *command))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except CommandFailure as failure:
            write_message(failure.message, label="Error: ", colour="red")
            for line in failure.lines:
                write_message(f"  {line}")
            raise typer.Exit(failure.exit_code) from None


app = typer.Typer(
    name="pegboard",
    cls=Program,
    help="Pegboard: register, call and audit the tools of LLM agents.",
    no_args_is_help=True,
    # Plain help is fast, works in pipes and prints [brackets] unchanged.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pegboard {__version__}")
        raise typer.Exit


@app.callback()
def read_options(
    ctx: typer.Context,
    *,
    url: Annotated[
        str, typer.Option("--url", envvar="PEGBOARD_URL", metavar="URL", help="URL of the server")
    ] = DEFAULT_URL,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            envvar="PEGBOARD_KEY",
            metavar="KEY",
            show_default=False,
            help="API key; by default from $PEGBOARD_HOME/credentials",
        ),
    ] = None,
    local: Annotated[bool, typer.Option("--local", help="Open the database directly, without a server")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the JSON of the API")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit")
    ] = False,
) -> None:
    """Store the options that precede the command."""
    typed = [name for name in ("url", "key", "local", "as_json") if _is_on_command_line(ctx, name)]
    if ctx.invoked_subcommand == "serve" and typed:
        flags = ", ".join("--json" if name == "as_json" else f"--{name}" for name in typed)
        raise UsageError(f"serve runs a server itself and does not take {flags}")
    ctx.obj = CliSession(url=url, key=key, local=local, as_json=as_json, is_remote="url" in typed)


def _is_on_command_line(ctx: typer.Context, name: str) -> bool:
    """Return True if the option is on the command line, not from the environment or a default."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def main() -> None:
    """Run the program and exit: 0 success, 1 the tool failed or the board refused, 2 usage, 3 no board."""
    # Almost all objects of the start-up stay alive: collecting garbage in them takes a third of a short run.
    gc.set_threshold(100_000, 20, 20)
    # The command line program of httpx is not used, and would import three more packages.
    sys.modules.setdefault("httpx._main", ModuleType("httpx._main"))
    try:
        app(prog_name="pegboard")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        gc.freeze()
