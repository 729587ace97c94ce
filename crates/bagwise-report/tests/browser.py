"""Opens reports in headless Chromium and looks: no error in the console, no request that leaves the page, every
drawing with a text alternative, tables that sort and filter, no sideways scrolling on a phone, nothing that leaves its
box or its drawing on a desktop, a phone or paper, text that can be read in light and dark, a page that is whole without
scripts. Screenshots and a PDF are left beside the findings.

Run: python3 browser.py CHROMIUM OUTPUT_FOLDER PAGE.html… Only the standard library is used: Chromium is driven over two
pipes (--remote-debugging-pipe), messages are JSON that ends in a zero byte.
"""

import base64
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

PATIENCE = 60  # seconds for one answer, on a machine that does other things too

DRAWINGS = """(() => [...document.querySelectorAll('svg')].filter(svg => {
  if (svg.getAttribute('aria-hidden') === 'true') return svg.closest('figure') && !svg.closest('.legend') ? true : false;
  const ids = (svg.getAttribute('aria-labelledby') || '').split(' ');
  const texts = ids.map(id => (document.getElementById(id) || {textContent: ''}).textContent.trim());
  return svg.getAttribute('role') !== 'img' || texts.length !== 2 || texts.some(t => t.length < 3);
}).map(svg => (svg.closest('[id]') || {}).id || svg.outerHTML.slice(0, 80)))()"""

SORTING = """(() => {
  const wrong = []; let tables = 0;
  document.querySelectorAll('table.sort').forEach(table => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (table.tBodies[0].rows.length < 2) return;
      const read = () => [...table.tBodies[0].rows].map(r => {
        const given = r.cells[column].getAttribute('data-v');
        return given === null ? r.cells[column].textContent.trim() : given;
      }).filter(v => v !== '' && !isNaN(v)).map(Number);
      const before = [...table.tBodies[0].rows].length;
      head.click();
      const first = head.getAttribute('aria-sort'), one = read();
      head.click();
      const second = head.getAttribute('aria-sort'), two = read();
      const ordered = (list, way) => list.every((v, i) => i === 0 || (way === 'descending' ? list[i - 1] >= v : list[i - 1] <= v));
      if (first === second || first === 'none' || second === 'none') wrong.push(table.caption.textContent + ': ' + head.textContent + ' does not answer');
      if (!ordered(one, first) || !ordered(two, second)) wrong.push(table.caption.textContent + ': ' + head.textContent + ' is not in order');
      if ([...table.tBodies[0].rows].length !== before) wrong.push(table.caption.textContent + ' lost rows');
    });
    tables += 1;
  });
  return {wrong, tables};
})()"""

FILTER = """(() => [...document.querySelectorAll('input.filter')].map(input => {
  const box = input.nextElementSibling, rows = [...box.querySelectorAll('tbody tr')];
  const wanted = rows[rows.length - 1].cells[0].textContent;
  input.value = wanted; input.dispatchEvent(new Event('input'));
  const shown = rows.filter(r => !r.hidden);
  const right = shown.length > 0 && shown.every(r => r.textContent.toLowerCase().includes(wanted.toLowerCase()));
  input.value = 'no bag has such a name'; input.dispatchEvent(new Event('input'));
  const none = rows.every(r => r.hidden);
  input.value = ''; input.dispatchEvent(new Event('input'));
  return right && none && rows.every(r => !r.hidden);
}))()"""

DOCUMENT = """(() => {
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
  const lost = [...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute('href').slice(1)).filter(id => !document.getElementById(id));
  const outside = [...document.querySelectorAll('[src],[href]')].map(e => e.getAttribute('src') || e.getAttribute('href')).filter(u => !u.startsWith('#') && !u.startsWith('data:'));
  return {twice, lost, outside, h1: document.querySelectorAll('h1').length, verdict: document.querySelector('.verdict').textContent.length};
})()"""

# Contrast of text with what lies behind it, by the formula of WCAG 2.
CONTRAST = """(() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; })
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return parse(getComputedStyle(document.body).backgroundColor); };
  const poor = new Set();
  document.querySelectorAll('body *').forEach(e => {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) return;
    if (['SCRIPT', 'STYLE', 'TITLE', 'DESC'].includes(e.tagName.toUpperCase()) || e.closest('.right,.wrong,caption') || e.classList.contains('cell')) return;
    const style = getComputedStyle(e);
    const ink = parse(e.namespaceURI.endsWith('svg') ? style.fill : style.color), paper = behind(e);
    const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.add(e.tagName + '.' + e.getAttribute('class') + ' ' + ratio.toFixed(2));
  });
  return [...poor].slice(0, 10);
})()"""

# What leaves the place it has: text of a drawing, elements beyond the edge of the page, and tables wider than their boxes. Where
# the screen is narrow, tables may be wider: their boxes scroll.
OVERFLOW = """(narrow => {
  const found = [], edge = document.documentElement.clientWidth + 1;
  const named = e => e.tagName.toLowerCase() + (e.getAttribute('class') ? '.' + e.getAttribute('class') : '');
  const told = e => named(e) + ' "' + e.textContent.trim().slice(0, 40) + '"';
  document.querySelectorAll('svg[viewBox]').forEach(svg => {
    const frame = svg.getBoundingClientRect();
    svg.querySelectorAll('text').forEach(text => {
      const b = text.getBoundingClientRect();
      if (b.width && (b.left < frame.left - 1 || b.top < frame.top - 1 || b.right > frame.right + 1 || b.bottom > frame.bottom + 1))
        found.push('text leaves its drawing ' + ((svg.closest('[id]') || {}).id || '') + ': ' + text.textContent);
    });
  });
  document.querySelectorAll('.box').forEach(box => {
    if (!narrow && box.scrollWidth > box.clientWidth + 1)
      found.push('table does not fit by ' + (box.scrollWidth - box.clientWidth) + ': ' + box.getAttribute('aria-label'));
  });
  document.querySelectorAll('body *').forEach(e => {
    if (e.closest('svg') && e.tagName.toLowerCase() !== 'svg' || e.parentElement.closest('.box') || e.closest('caption')) return;
    const r = e.getBoundingClientRect();
    if (r.width && (r.right > edge || r.left < -1)) found.push('beyond the edge: ' + told(e));
    else if (e.clientWidth && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'auto')
      found.push('wider than its place: ' + told(e));
  });
  return found;
})"""

SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Browser:
    def __init__(self, program, profile):
        # The browser reads from its descriptor 3 and writes to its descriptor 4.
        read_ours, write_theirs = os.pipe()
        read_theirs, write_ours = os.pipe()
        flags = [
            "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            flags.append("--no-sandbox")  # it refuses to start as root otherwise

        line = f'exec "$@" 3<&{read_theirs} 4>&{write_theirs}'
        self.process = subprocess.Popen(
            ["sh", "-c", line, "sh", program, *flags],
            pass_fds=(read_theirs, write_theirs), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(read_theirs)
        os.close(write_theirs)
        self.read, self.write = read_ours, write_ours
        self.rest, self.count, self.events, self.session = b"", 0, [], None

    def messages(self, until):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.read], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            chunk = os.read(self.read, 1 << 20)
            if not chunk:
                raise EOFError("the browser is gone")
            self.rest += chunk
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.messages(until)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:60]}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, page):
        before = len(self.events)
        self.call("Page.navigate", url=page.resolve().as_uri())
        until = time.monotonic() + PATIENCE
        while not any(e["method"] == "Page.loadEventFired" for e in self.events[before:]):
            message = self.messages(until)
            if "method" in message:
                self.events.append(message)

    def screen(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)

    def media(self, kind="", dark=False):
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def shot(self, path, whole=True):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        options = {"format": "png"}
        if whole:
            # Beyond this many pixels pictures are refused.
            options["captureBeyondViewport"] = True
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 7800), "scale": 1}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **options)["data"]))


def look(browser, page, out, found):
    """Everything that is looked at on one page; what is wrong goes to `found`."""

    def expect(right, what):
        if not right:
            found.append(f"{page.name}: {what}")

    def stays(where, narrow=False):
        over = browser.value(f"{OVERFLOW}({'true' if narrow else 'false'})")
        expect(not over, f"{len(over)} things do not fit {where}: {over[:12]}")

    name = page.stem
    browser.screen(1280, 900)
    browser.media()
    browser.open(page)
    browser.shot(out / f"{name}-first-screen.png", whole=False)
    browser.shot(out / f"{name}-desktop.png")
    document = browser.value(DOCUMENT)
    expect(not document["twice"], f"ids that stand twice: {document['twice']}")
    expect(not document["lost"], f"links that lead nowhere: {document['lost']}")
    expect(not document["outside"], f"addresses outside the page: {document['outside']}")
    expect(document["h1"] == 1 and document["verdict"] > 20, "no heading or no verdict")
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    drawings = browser.value(DRAWINGS)
    expect(not drawings, f"drawings without text alternative: {drawings}")
    figures = browser.value("document.querySelectorAll('figure').length")
    expect(figures >= 3, f"only {figures} figures")
    sideways = browser.value(SIDEWAYS)
    expect(sideways <= 0, f"scrolls sideways by {sideways} on a desktop")
    stays("on a desktop")
    poor = browser.value(CONTRAST)
    expect(not poor, f"text too pale: {poor}")
    sorting = browser.value(SORTING)
    expect(sorting["tables"] >= 1 and not sorting["wrong"], f"sorting: {sorting}")
    filters = browser.value(FILTER)
    expect(all(filters), f"filters: {filters}")
    browser.media(dark=True)
    browser.open(page)
    browser.shot(out / f"{name}-dark.png")
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    poor = browser.value(CONTRAST)
    expect(not poor, f"text too pale in the dark: {poor}")
    paper = browser.value("getComputedStyle(document.body).backgroundColor")
    expect(sum(int(v) for v in paper.strip("rgb()").split(",")) < 200, f"not dark in the dark: {paper}")
    browser.media()
    for width in (390, 320):
        browser.screen(width, 844, phone=True)
        browser.open(page)
        if width == 390:
            browser.shot(out / f"{name}-phone.png")
        browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
        sideways = browser.value(SIDEWAYS)
        expect(sideways <= 0, f"scrolls sideways by {sideways} on a screen of {width}")
        stays(f"on a screen of {width}", narrow=True)
    browser.screen(1280, 900)
    # Paper is white, also for people who like the dark.
    browser.media(dark=True)
    browser.open(page)
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True, preferCSSPageSize=False)["data"])
    (out / f"{name}-print.pdf").write_bytes(pdf)
    expect(pdf.startswith(b"%PDF") and len(pdf) > 20_000, f"the print has {len(pdf)} bytes")
    browser.media(kind="print")
    browser.screen(794, 1123)
    browser.open(page)
    browser.shot(out / f"{name}-print.png")
    # A4 less its margins, in the pixels of a page.
    browser.screen(688, 1017)
    browser.open(page)
    sideways = browser.value(SIDEWAYS)
    expect(sideways <= 0, f"scrolls sideways by {sideways} on paper")
    stays("on paper")
    browser.media()
    browser.screen(1280, 900)
    # Without scripts everything is there but sorting and filtering.
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page)
    root = browser.call("DOM.getDocument")["root"]["nodeId"]

    def count(selector):
        return len(browser.call("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"])

    expect(count("figure") == figures and count("input") == 0, "without scripts figures are missing or a filter does nothing")
    expect(count("th[aria-sort]") == 0, "without scripts headings promise to sort")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    return {"figures": figures, "sorted": sorting["tables"], "filters": len(filters)}


# What is done to a copy of the first page, and what must then be found: a look that finds nothing wrong with it is blind.
DAMAGE = [
    ('role="img"', 'role="none"', "drawings without text alternative"),
    ('id="d0-results"', 'id="d0-audit"', "ids that stand twice"),
    ('href="data:,"', 'href="https://example.invalid/icon.png"', "addresses outside the page"),
    ("<main>", '<main><p class="muted" style="color:#ccc;background:#fff;width:3000px">pale and wide</p>', "text too pale"),
    ("<main>", "<main><script>undefined.x</script>", "the log has"),
    ("<main>", '<main><div class="box" style="width:90px"><table><tr><td>wider than it</td></tr></table></div>', "does not fit"),
    ('text-anchor="end"', 'text-anchor="end" dx="-900"', "leaves its drawing"),
    ('"use strict";', '"use strict"; ', "sorting"),
]


def damaged(page, folder):
    text = page.read_text(encoding="utf-8")
    for old, new, _ in DAMAGE:
        assert old in text, old
        text = text.replace(old, new, 1)
    copy = pathlib.Path(folder) / "damaged.html"
    copy.write_text(text, encoding="utf-8")
    return copy


def events_of(browser, page, found):
    """Errors in the console, and requests that leave the page."""
    for event in browser.events:
        params = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            found.append(f"{page.name}: {params['exceptionDetails']['text']}")
        elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            found.append(f"{page.name}: the console has {params['args']}")
        elif event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            found.append(f"{page.name}: the log has {params['entry']['text']}")
        elif event["method"] == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith("data:") and url != page.resolve().as_uri():
                found.append(f"{page.name}: asks for {url}")


def main():
    program, out, *pages = sys.argv[1:]
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    found = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
                browser.call(f"{domain}.enable")
            copy = damaged(pathlib.Path(pages[0]), profile)
            seen_wrong = []
            look(browser, copy, pathlib.Path(profile), seen_wrong)
            events_of(browser, copy, seen_wrong)
            for what in [what for _, _, what in DAMAGE] + ["scrolls sideways"]:
                if not any(what in line for line in seen_wrong):
                    found.append(f"a damaged page passes: nothing about '{what}'")
            for page in map(pathlib.Path, pages):
                browser.events.clear()
                seen = look(browser, page, out, found)
                events_of(browser, page, found)
                print(f"{page.name}: {seen['figures']} figures, {seen['sorted']} tables sorted, {seen['filters']} filters")
        finally:
            browser.process.terminate()
            browser.process.wait()
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
