"""The topology of a site's `fabric report`, rendered in Chromium.

Run as `python -m tools.docs.report_image intent/h100-4su.yaml docs/img/report.png`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import FloatRect, ViewportSize, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
WIDTH, HEIGHT, AIR = 1280, 910, 5  # pixels: of the map from its title down to the last leaf of the example, and around it


def render(page: Path, png: Path) -> None:
    """Writes the load map of a report with its title and key as PNG: offline, in light colours."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        size: ViewportSize = {"width": WIDTH, "height": HEIGHT}
        tab = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce", offline=True)
        tab.goto(f"{page.as_uri()}#view=load")
        tab.wait_for_selector("html[data-ready]")
        area = tab.locator(".shown").evaluate("node => node.getBoundingClientRect().toJSON()")
        clip: FloatRect = {
            "x": area["x"] - AIR,
            "y": area["y"] - AIR,
            "width": area["width"] + 2 * AIR,
            "height": min(area["height"] + 2 * AIR, HEIGHT),
        }
        tab.screenshot(path=png, full_page=True, clip=clip)
        browser.close()


def main(intent: str, png: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [str(Path(sys.executable).with_name("fabric")), "report", intent, "-o", str(page)]
        subprocess.run(command, check=True)
        render(page, Path(png))


if __name__ == "__main__":
    main(*sys.argv[1:])
