"""Shows the addresses of the server as a page that needs nothing but itself."""

from __future__ import annotations

import json
from html import escape
from typing import Any

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{font:13px/1.5 monospace}pre{background:#8881;padding:.7rem;overflow:auto}"
    "h2{margin-top:2.5rem;text-transform:capitalize}h3 b{color:#06c;margin-right:.5rem}"
    ":root{color-scheme:light dark}"
)


def documentation(api: dict[str, Any]) -> str:
    """Returns the page of an API that OpenAPI describes."""
    info = api["info"]
    groups: dict[str, list[str]] = {}
    for path, methods in api["paths"].items():
        for method, said in methods.items():
            groups.setdefault(said["tags"][0], []).append(_address(method, path, said))
    parts = [
        f"<h2>{escape(tag)}</h2>{''.join(addresses)}" for tag, addresses in sorted(groups.items())
    ]
    title = escape(f"{info['title']} {info['version']}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1><p>{escape(info['description'])}</p>"
        f'<p>The same for programs: <a href="openapi.json">openapi.json</a>.</p>'
        f"{''.join(parts)}</body></html>"
    )


def _address(method: str, path: str, said: dict[str, Any]) -> str:
    """Returns an address: what it does, what it is given, and an example."""
    lines = [f"<h3><b>{method.upper()}</b><code>{escape(path)}</code></h3>"]
    lines.append(f"<p>{escape(said['description'])}</p>")
    given = [
        f"<li><code>{escape(each['name'])}</code> in the {escape(each['in'])}"
        f"{', needed' if each.get('required') else ''}</li>"
        for each in said.get("parameters", ())
    ]
    lines += [f"<ul>{''.join(given)}</ul>"] if given else []
    content = said.get("requestBody", {}).get("content", {})
    for kind, each in content.items():
        if "example" in each:
            lines.append(f"<pre>{escape(json.dumps(each['example'], indent=2))}</pre>")
        else:
            lines.append(f"<p>Also as <code>{escape(kind)}</code>.</p>")
    return "".join(lines)
