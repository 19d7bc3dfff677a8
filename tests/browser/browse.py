#!/usr/bin/env python3
"""Opens pages of skidscan in headless Chromium and checks them as a reader uses them.

usage: browse.py SKIDSCAN MODELS

SKIDSCAN  the built program
MODELS    directory with models of synthetic recordings

Needs Chromium, its driver and Selenium.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.service import Service

DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")
WIDE, HEIGHT = 1100, 900  # pixels
WIDTHS = 420, 800, 1280, 1920

HOSTILE = [
    "<img src=x onerror=\"document.title='owned'\">",
    "</script><script>document.title='owned'</script>",
    "\" onmouseover=\"document.title='owned'\" x=\"",
    "</title></svg><style>*{display:none}</style>",
    "`touch owned` $(touch owned) \u001b[31mred\u0007 \u202eesrever",
]


def skidscan(program, *arguments, cwd):
    done = subprocess.run([program, *arguments], cwd=cwd, capture_output=True, check=False)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr.decode())
    return done.stdout


def open_browser(directory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--user-data-dir={directory}", f"--window-size={WIDE},{HEIGHT}"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to start as root otherwise
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(DRIVER), options=options)


class Page:
    """An open page, and the checks of all pages."""

    def __init__(self, browser, file):
        self.browser, self.file = browser, file
        browser.set_window_size(WIDE, HEIGHT)
        browser.get(file.as_uri())

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def check_loads_nothing(self):
        loaded = self.run("return performance.getEntriesByType('resource').map(e => e.name)")
        assert loaded == [], loaded
        # The browser logs what the policy blocked.
        logged = [entry["message"] for entry in self.browser.get_log("browser")]
        assert logged == [], logged
        blocked = self.run("""
            const made = document.createElement('style');
            made.textContent = 'body { display: none }';
            document.head.append(made);
            const shown = getComputedStyle(document.body).display !== 'none';
            made.remove();
            return shown;""")
        assert blocked, "the policy admits a style that is not of the page"
        self.browser.get_log("browser")

    def check_links(self):
        dead = self.run("""return Array.from(document.querySelectorAll('a')).filter(
            a => !a.hash || !document.getElementById(a.hash.slice(1))).map(a => a.outerHTML)""")
        assert dead == [], dead
        doubled = self.run("""const ids = Array.from(document.querySelectorAll('[id]'), e => e.id);
            return ids.filter((id, i) => ids.indexOf(id) !== i)""")
        assert doubled == [], doubled

    def check_sorts(self):
        tables = self.all("table.sortable")
        assert tables
        for table in tables:
            for column, button in enumerate(table.find_elements(By.CSS_SELECTOR, "th button")):
                heading = button.find_element(By.XPATH, "..")
                if not heading.is_displayed():
                    continue
                values = """return Array.from(arguments[0].tBodies[0].rows,
                    row => row.cells[arguments[1]].innerText.trim())"""
                before = self.run(values, table, column)
                button.send_keys(Keys.ENTER)
                up = self.run(values, table, column)
                button.send_keys(Keys.ENTER)
                down = self.run(values, table, column)
                assert sorted(before) == sorted(up) == sorted(down)
                assert heading.get_attribute("aria-sort") == "descending"
                for shown, is_reverse in ((up, False), (down, True)):
                    known = [value for value in shown if value != "-"]
                    assert shown[:len(known)] == known, shown
                    if "number" in heading.get_attribute("class"):
                        numbers = [float(re.search(r"[+-]?[0-9.]+", value.replace(",", ""))[0]) for value in known]
                        assert numbers == sorted(numbers, reverse=is_reverse), (column, shown)

    def check_figures(self):
        """Figures have a title, ids of their own, and the colour of the page's text."""
        figures = self.all("figure svg")
        assert figures
        for figure in figures:
            assert figure.find_element(By.CSS_SELECTOR, "title").get_attribute("textContent")
            assert figure.find_elements(By.CSS_SELECTOR, "text")
        strange = self.run("""
            const ink = getComputedStyle(document.body).color;
            return Array.from(document.querySelectorAll('svg text'), text => getComputedStyle(text).fill)
                .filter(color => color === 'rgb(0, 0, 0)' && color !== ink)""")
        assert strange == [], strange

    def check_nothing_is_cut(self):
        """Texts of figures are within them and do not overlap."""
        faults = self.run("""
            const faults = [];
            for (const svg of document.querySelectorAll('svg')) {
              // As seen, because labels of axes are rotated.
              const scale = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
              const frame = svg.getBoundingClientRect();
              // The box of a text is the text once more, with a filter.
              const texts = Array.from(svg.querySelectorAll(':not([filter]) > text'));
              const boxes = texts.map(text => {
                const seen = text.getBoundingClientRect();
                return {x: (seen.x - frame.x) * scale, y: (seen.y - frame.y) * scale,
                        width: seen.width * scale, height: seen.height * scale};
              });
              boxes.forEach((a, i) => {
                if (a.x < -0.5 || a.y < -0.5 || a.x + a.width > frame.width * scale + 0.5 ||
                    a.y + a.height > frame.height * scale + 0.5) {
                  faults.push('cut: ' + texts[i].textContent);
                }
                for (let k = i + 1; k < boxes.length; ++k) {
                  const b = boxes[k];
                  const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
                  const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
                  if (across > 1 && down > 3) {
                    faults.push(`overlap: ${texts[i].textContent} / ${texts[k].textContent}`);
                  }
                }
              });
            }
            return faults.slice(0, 10);""")
        assert faults == [], faults

    def check_widths(self):
        """No window has to be scrolled sideways, and the verdicts are visible in each."""
        for width in WIDTHS:
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
            wide = self.run("scrollTo(0, 0); return document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, f"a window of {width} pixels has to be scrolled by {wide}"
            first = self.run("""
                const box = document.querySelector('h1').getBoundingClientRect();
                return [box.top, box.left, box.right]""")
            assert 0 <= first[0] < 100 and 0 <= first[1] and first[2] <= width, (width, first)
            cut = self.run("""return Array.from(document.querySelectorAll('.sortable')).filter(
                table => table.scrollWidth > table.parentElement.clientWidth).map(
                table => table.tHead.innerText)""")
            assert cut == [], f"tables are cut in a window of {width} pixels: {cut}"
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def check_dark_and_print(self):
        def paper():
            return self.run("return getComputedStyle(document.body).backgroundColor")

        papers = []
        for scheme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]})
            papers.append(paper())
        assert papers[0] != papers[1], papers
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        printed = self.browser.execute_cdp_cmd("Page.printToPDF", {})
        assert len(printed["data"]) > 5000

    def check(self):
        self.check_loads_nothing()
        self.check_links()
        self.check_nothing_is_cut()
        self.check_sorts()
        self.check_figures()
        self.check_widths()
        self.check_dark_and_print()


def shown_text(page):
    """All text of the page, including closed <details>."""
    page.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    return page.run("return document.body.innerText")


def check_report(browser, program, models, here):
    skidscan(program, "synth", "--all-levels", models / "pebs-shadow.json", "-o", "shadow.run", cwd=here)
    skidscan(program, "report", "shadow.run", "--html", "report.html", cwd=here)
    report = json.loads(skidscan(program, "report", "shadow.run", "--format", "json", cwd=here))
    page = Page(browser, here / "report.html")
    page.check()
    text = shown_text(page)
    assert "SYNTHETIC" in text
    assert "skidscan report shadow.run --html report.html" in text
    for measurement in report["measurements"]:
        assert measurement["contract"]["evidence"] in text
        for warning in measurement["warnings"]:
            assert warning in text
    return report


def check_comparison(browser, program, models, here):
    skidscan(program, "synth", "--all-levels", models / "pebs-sound.json", "-o", "sound.run", cwd=here)
    skidscan(program, "compare", "sound.run", "shadow.run", "--html", "compare.html", cwd=here)
    page = Page(browser, here / "compare.html")
    page.check()
    text = shown_text(page)
    assert "sound.run" in text and "shadow.run" in text
    plain = skidscan(program, "compare", "sound.run", "shadow.run", "--details",
                     cwd=here).decode()
    assert "Method" in plain and "Method" in text


def check_tables(browser, program, here):
    """Pages of audit and annotate, which have no figures."""
    for command, words in ((("audit",), "judged samples"), (("annotate",), "in the loop of the target"),
                           (("annotate", "--by", "function"), "skid_trigger")):
        skidscan(program, *command, "shadow.run", "--html", "tables.html", cwd=here)
        page = Page(browser, here / "tables.html")
        page.check_loads_nothing()
        page.check_links()
        if command != ("annotate",):
            page.check_sorts()
        page.check_widths()
        text = shown_text(page)
        assert words in text and "SYNTHETIC" in text, text
        answer = skidscan(program, *command, "shadow.run", cwd=here).decode().split("\n\n")[0]
        assert " ".join(answer.split()) in " ".join(text.split()), answer


def check_figure_files(browser, program, models, here):
    """Figures as files: of one event, of four events in a grid, of two machines, and as wide as a column."""
    skidscan(program, "synth", "--all-levels", models / "vm-broken.json", "-o", "broken.run", cwd=here)
    report = json.loads(skidscan(program, "report", "broken.run", "--format", "json", cwd=here))
    loads = [one for one in report["measurements"] if one["event"]["label"] != "cycles:u"]
    report["measurements"] = [json.loads(json.dumps(one)) for _ in range(4) for one in loads]
    for i, one in enumerate(report["measurements"]):
        one["event"]["type"], one["event"]["label"] = 0, f"event-{i // len(loads)}"
    (here / "events.json").write_text(json.dumps(report))
    for inputs in (["broken.run"], ["events.json"], ["shadow.run", "broken.run"]):
        for kind in ("histogram", "cdf", "breakdown", "forest", "bias"):
            if kind == "bias" and "shadow.run" not in inputs:
                continue
            for size in ([], ["--size", "3.3in"]):
                skidscan(program, "report", *inputs, "--kind", kind, *size, "--plot", "figure.svg", cwd=here)
                try:
                    Page(browser, here / "figure.svg").check_nothing_is_cut()
                except AssertionError as faults:
                    raise AssertionError(f"{inputs} {kind} {size}: {faults}") from None


def check_hostile(browser, program, report, here):
    for number, name in enumerate(HOSTILE):
        for measurement in report["measurements"]:
            measurement["event"]["label"] = name
            measurement["event"]["requested"] = name
            measurement["event"]["recorded"] = name
            measurement["cpu"]["model_name"] = name
            measurement["kernel"] = name
            measurement["run"] = name
            measurement["contract"]["evidence"] = name
        (here / f"hostile{number}.json").write_text(json.dumps(report))
        (here / name.replace("/", "_")).write_text(json.dumps(report))
        skidscan(program, "report", f"hostile{number}.json", "--html", f"hostile{number}.html",
                 cwd=here)
        page = Page(browser, here / f"hostile{number}.html")
        page.check_loads_nothing()
        assert page.browser.title == "skidscan report"
        assert page.run("return document.querySelectorAll('img').length") == 0
        assert page.run("return document.querySelectorAll('script').length") == 1
        text = " ".join(shown_text(page).split())
        visible = name.replace("\u001b", "\\x1B").replace("\u0007", "\\x07").replace(
            "\u202e", "\\xE2\\x80\\xAE")
        assert visible.lower() in text.lower(), (visible, text[:2000])
        wide = page.run("return document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"a long name makes the page {wide} pixels too wide"
        skidscan(program, "compare", "shadow.run", f"hostile{number}.json", "--html",
                 "hostile-compare.html", cwd=here)
        page = Page(browser, here / "hostile-compare.html")
        page.check_loads_nothing()
        assert page.browser.title == "skidscan compare"
        assert page.run("return document.querySelectorAll('img').length") == 0
        assert not (here / "owned").exists()


def main():
    program, models = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as directory:
        here = pathlib.Path(directory)
        browser = open_browser(here / "profile")
        try:
            report = check_report(browser, program, models, here)
            check_comparison(browser, program, models, here)
            check_tables(browser, program, here)
            check_figure_files(browser, program, models, here)
            check_hostile(browser, program, report, here)
        finally:
            browser.quit()
    print("all pages and figures hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
