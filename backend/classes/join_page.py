"""The page on which a student joins: plain HTML without scripts, so that a stranger loads nothing else."""

from __future__ import annotations

from html import escape

STYLE = (
    "body{font:18px/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}"
    "label{display:block;margin:1rem 0 .25rem}input,button{font:inherit;padding:.5rem;box-sizing:border-box;width:100%}"
    "button{margin-top:1.5rem}.wrong{border-left:.3rem solid #c62828;padding-left:.75rem}.link{overflow-wrap:anywhere}"
)

SAYS_ORIGIN = '<meta name="referrer" content="same-origin">'
"""Under the policy `no-referrer` of the other pages a browser posts a form with the origin `null`, which the gate refuses."""


def page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{SAYS_ORIGIN}'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )


def form(called: str, wrong: str = "", code: str = "", name: str = "") -> str:
    """The form; `wrong` says in one line what was refused, and what was typed stays."""
    alert = f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""
    return page(
        f"Join {called}",
        f'{alert}<form method="post" action="/join"><label for="code">Code of the class</label>'
        f'<input id="code" name="code" value="{escape(code[:40])}" maxlength="40" autocomplete="off" autocapitalize="characters" '
        'spellcheck="false" placeholder="ABCD-2345" required>'
        '<label for="name">Your name</label>'
        f'<input id="name" name="name" value="{escape(name[:60])}" maxlength="60" autocomplete="name" required>'
        "<p>Everybody in the class can be told apart by it; it draws the numbers of your labs.</p>"
        '<button type="submit">Join</button></form>',
    )


def welcome(name: str, key: str) -> str:
    """What a student sees once: the link that is theirs."""
    link = f"/labs?key={escape(key)}"
    return page(
        f"Welcome, {name}",
        f'<p><a class="link" href="{link}">Open your labs</a></p>'
        "<p>This link is yours alone, as a password is. Bookmark it: it lets you in again from any browser. "
        "If it is lost, your instructor gives you a new one.</p>",
    )


def already(name: str) -> str:
    return page(f"You are in, {name}", '<p><a href="/labs">Open your labs</a></p>')
