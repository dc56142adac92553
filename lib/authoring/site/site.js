/**
 * What a page can do besides being read: light or dark, the other language at the same place, search, living panels,
 * and the reader's progress. Everything else works without this script.
 *
 * A classic script, because pages opened from disk cannot load modules. What differs between pages and languages is in
 * the page itself: `about_page`.
 *
 * @typedef {{theme?: string, language?: string, last?: {lesson: string, place: string},
 *            read: Object<string, true>, guesses: Object<string, [number|string, boolean?]>}} Kept
 */
"use strict";
(() => {
  const { language, stored, words } = JSON.parse(document.getElementById("about_page").textContent);
  const NEAR = "600px"; // a panel this near to the screen is loaded
  const NARROW = 520; // px: a narrower panel has its own arrangement, as in panel.js
  const TOP = 120; // px from the top of the screen
  const MOST = 30; // search results that are shown
  const AROUND = 60; // characters shown on either side of a hit

  // ---- What is kept in this browser -----------------------------------------------------------------------------------
  /** What is kept so far: nothing where the browser denies storage. @returns {Kept} */
  function kept() {
    let found;
    try { found = JSON.parse(localStorage.getItem(stored)); } catch { /* storage is denied */ }
    return { theme: "auto", last: null, read: {}, guesses: {}, ...found };
  }

  /** Change what is kept, read afresh because another page may have changed it. Returns whether it is stored. @param {(kept: Kept) => void} change */
  function keep(change) {
    const now = kept();
    change(now);
    try { localStorage.setItem(stored, JSON.stringify({ ...now, language })); } catch { return false; } // storage is denied
    return true;
  }

  // ---- Elements -------------------------------------------------------------------------------------------------------
  function make(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  /** A line that says what failed. */
  const trouble = (text) => make("p", { class: "trouble", role: "status" }, text);

  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  function button(text, press, name) {
    const node = make("button", { type: "button", class: name }, text);
    node.addEventListener("click", () => press(node));
    return node;
  }

  /** Load a classic script once. @returns {Promise<void>} */
  const loaded = new Map();
  function load(address) {
    if (!loaded.has(address)) {
      loaded.set(address, new Promise((done, failed) => {
        const node = make("script", { src: address });
        node.addEventListener("load", done);
        node.addEventListener("error", () => failed(new Error(`not loaded: ${address}`)));
        document.head.append(node);
      }));
    }
    return loaded.get(address);
  }

  // ---- Light and dark -------------------------------------------------------------------------------------------------
  const THEMES = ["auto", "light", "dark"];

  function themes() {
    const show = (node) => {
      const { theme } = kept();
      if (theme === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = theme;
      node.dataset.shows = theme;
      node.setAttribute("aria-label", filled(words.theme, { now: words[theme] }));
      node.title = node.getAttribute("aria-label");
    };
    const node = button("", () => {
      const { theme } = kept();
      keep((now) => (now.theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]));
      show(node);
    }, "theme");
    show(node);
    return node;
  }

  // ---- The place in the text ------------------------------------------------------------------------------------------
  /** The id of the last element at the top of the screen or above it, of those that both languages share: the ids
   *  within a figure are those of its picture or of its living panel. */
  function here() {
    const passed = (node) => node.checkVisibility() && node.getBoundingClientRect().top < TOP;
    return all("main [id]").filter((node) => !node.closest("figure") && passed(node)).at(-1)?.id ?? "";
  }

  /** Change the page while what is read stays where it is on the screen; not all browsers do so by themselves,
   *  and none right after a jump. */
  function inPlace(change) {
    const read = document.getElementById(here());
    const before = read?.getBoundingClientRect().top;
    change();
    if (read) scrollBy(0, read.getBoundingClientRect().top - before);
  }

  /** The link to the other language leads to the same place. */
  function languages() {
    const link = document.querySelector(".language");
    const address = link.getAttribute("href");
    const aim = () => link.setAttribute("href", here() ? `${address}#${here()}` : address);
    for (const event of ["pointerenter", "focus", "click"]) link.addEventListener(event, aim);
  }

  /** The contents are open on wide screens, and mark the current section. */
  function contents() {
    const box = document.querySelector(".contents details");
    if (!box) return;
    const wide = matchMedia("(min-width: 68rem)");
    const unfold = () => (box.open = wide.matches);
    wide.addEventListener("change", unfold);
    unfold();
    const links = new Map(all("a", box).map((link) => [link.getAttribute("href").slice(1), link]));
    const lesson = document.querySelector("main").dataset.lesson;
    const top = (node) => node.getBoundingClientRect().top;
    let [at, jump, waiting] = [null, null, false];
    const mark = () => {
      waiting = false;
      const left = document.documentElement.scrollHeight - innerHeight - scrollY;
      const rests = jump && Math.abs(top(jump.target) - jump.top) < 2; // the reader has not scrolled since
      // Lower at the end of the page, where sections cannot move up to a third of the screen.
      const line = rests ? jump.top + 1 : Math.max(innerHeight / 3, innerHeight - left);
      const now = [...links.keys()].findLast((id) => top(document.getElementById(id)) < line) ?? "";
      if (now === at) return;
      links.get(at)?.removeAttribute("aria-current");
      links.get(now)?.setAttribute("aria-current", "location");
      at = now;
      if (lesson) keep((all) => (all.last = { lesson, place: now }));
    };
    const look = () => (waiting ||= !!requestAnimationFrame(mark));
    const jumped = () => {
      const target = document.querySelector("main :target");
      const folded = target?.closest(".further");
      if (folded) folded.open = true; // a heading is outside of what it folds, so that the browser does not open it
      const shown = target && top(target) >= 0 && top(target) < innerHeight;
      jump = shown ? { target, top: top(target) } : null;
      look();
    };
    for (const event of ["load", "hashchange"]) addEventListener(event, jumped);
    addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(document.querySelector("main")); // panels grow; and at first
  }

  // ---- Search ---------------------------------------------------------------------------------------------------------
  const OTHER = { en: "zh", zh: "en" };

  /** Letters, digits and signs alone: "Layer norm?" is "layernorm". */
  const bare = (text) => text.toLowerCase().replace(/[\s\p{P}]+/gu, "");

  /** How well a query suits the name of a section; 0 is best. */
  function rank(name, asked, wanted) {
    const names = [name, name.replace(/^\d+ /, "")].map(bare); // with and without the number of the lesson
    const whole = bare(asked);
    const said = name.toLowerCase();
    const tests = [
      () => names.includes(whole),
      () => whole && names.some((each) => each.startsWith(whole)),
      () => wanted.every((word) => said.includes(word)),
      () => wanted.some((word) => said.includes(word)),
    ];
    const first = tests.findIndex((test) => test());
    return first < 0 ? tests.length : first;
  }

  /** The sections with all the words: first whole names, then names that begin with the query, names with all words,
   *  names with one of them, and last those with the words in the text. Of equals, pages come before their sections. */
  function found(pages, asked) {
    const wanted = asked.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = pages.flatMap(([file, title, sections]) =>
      sections.flatMap(([id, heading, text]) => {
        const said = `${title}\n${heading}\n${text}`.toLowerCase();
        if (!wanted.every((word) => said.includes(word))) return [];
        const order = 2 * rank(heading || title, asked, wanted) + (heading ? 1 : 0);
        return [{ file, title, id, heading, text, order, word: wanted[0] }];
      }));
    return wanted.length ? hits.sort((a, b) => a.order - b.order) : [];
  }

  /** The text around a hit, with the hit marked. */
  function around(text, word) {
    const at = text.toLowerCase().indexOf(word);
    if (at < 0) return [text.slice(0, 2 * AROUND)];
    const [from, to] = [Math.max(0, at - AROUND), at + word.length];
    return [from ? `…${text.slice(from, at)}` : text.slice(0, at), make("mark", {}, text.slice(at, to)), text.slice(to, to + AROUND)];
  }

  function entry({ file, title, id, heading, text, word }, tongue) {
    const folder = tongue === language ? "" : `../${tongue}/`;
    const name = make("strong", {}, heading ? `${title} · ${heading}` : title);
    const link = make("a", { href: `${folder}${file}${id && `#${id}`}` }, name, make("span", {}, ...around(text, word)));
    return make("li", tongue === language ? {} : { lang: tongue === "zh" ? "zh-CN" : "en" }, link);
  }

  function search() {
    const box = make("input", { type: "search", "aria-label": words.search, placeholder: words.search, autocomplete: "off", spellcheck: "false" });
    const told = make("p", { role: "status" });
    const list = make("ol");
    const results = make("div", { class: "results" }, told, list);
    results.hidden = true;
    const show = async () => {
      const asked = box.value.trim();
      results.hidden = !asked;
      if (!asked) return;
      try {
        await Promise.all([language, OTHER[language]].map((tongue) => load(`../search/${tongue}.js`)));
      } catch {
        told.textContent = words.unsearchable;
        return;
      }
      if (asked !== box.value.trim()) return; // the query has changed meanwhile
      const own = found(blocklabSearch[language], asked);
      const elsewhere = own.length ? [] : found(blocklabSearch[OTHER[language]], asked);
      const hits = own.length ? own : elsewhere;
      const wording = own.length ? words.results : elsewhere.length ? words.elsewhere : words.nothing;
      told.textContent = filled(wording, { n: hits.length, asked });
      list.replaceChildren(...hits.slice(0, MOST).map((hit) => entry(hit, own.length ? language : OTHER[language])));
    };
    const form = make("form", { role: "search" }, box, results);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      list.querySelector("a")?.click();
    });
    form.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !form.contains(relatedTarget)) results.hidden = true;
    });
    document.addEventListener("pointerdown", ({ target }) => form.contains(target) || (results.hidden = true));
    box.addEventListener("input", show);
    box.addEventListener("focus", show);
    form.addEventListener("keydown", (event) => {
      const links = all("a", list);
      const at = links.indexOf(document.activeElement);
      if (event.key === "Escape") {
        results.hidden = true;
        box.focus();
        results.hidden = true;
      } else if (event.key === "ArrowDown" && links[at + 1]) links[at + 1].focus();
      else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] ?? box).focus();
      else return;
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, select, textarea, [contenteditable]");
      if (event.key !== "/" || typing || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      box.focus();
    });
    return form;
  }

  // ---- Panels ---------------------------------------------------------------------------------------------------------
  /** The guess of an earlier visit, and what keeps a new one; the first one counts. */
  const guessesOf = (name) => ({
    guessed: kept().guesses[name]?.[0] ?? null,
    onGuess: (choice, right) => keep((now) => (now.guesses[name] ??= [choice, right])),
  });

  /** Replace the text of a question without a figure by the question itself. If that fails, the text stays. */
  async function ask(node) {
    try {
      await load("../player.js");
      const bytes = Uint8Array.from(atob(node.dataset.question), (letter) => letter.codePointAt(0));
      const { name, spec, first } = JSON.parse(new TextDecoder().decode(bytes));
      inPlace(() => {
        node.replaceChildren();
        blocklabPlayer.frozen(node, { spec, states: [first], records: {} }, guessesOf(`predict/${name}`));
      });
    } catch (error) {
      console.warn(error);
    }
  }

  /** Replace a picture by its living panel, in the arrangement for this width; again if the width changes. If the
   *  states cannot be loaded, what is there stays. */
  function enliven(figure) {
    const { panel, script, narrow, at } = figure.dataset;
    const { guessed, onGuess } = guessesOf(panel);
    const earlier = {
      guessed,
      onGuess(choice, right) {
        earlier.guessed = choice;
        onGuess(choice, right);
      },
      onMove: (places) => (earlier.at = places),
    };
    if (at) earlier.at = JSON.parse(at);
    let [arranged, leave] = [null, null];
    const show = async () => {
      const small = Boolean(narrow) && figure.clientWidth < NARROW;
      if (small === arranged || !figure.clientWidth) return; // 0: folded away
      arranged = small;
      const place = make("div");
      try {
        await Promise.all([load("../player.js"), load(small ? narrow : script)]);
        if (small !== arranged) return; // the width has changed meanwhile
        const { frozen, statesFor } = blocklabPlayer;
        const whole = statesFor(globalThis.blocklabStates?.[small ? `${panel}/narrow` : panel], language);
        if (at) whole.spec = { ...whole.spec, guess: null };
        const before = [...figure.childNodes];
        inPlace(() => {
          figure.append(place);
          const close = frozen(place, whole, earlier);
          leave?.();
          leave = close;
          for (const node of before) node.remove();
        });
      } catch (error) {
        console.warn(error);
        place.remove();
        if (!figure.querySelector(".trouble")) figure.append(trouble(error.cause === "edition" ? words.edition : words.trouble));
      }
    };
    new ResizeObserver(show).observe(figure); // and at first
  }

  function panels() {
    const near = new IntersectionObserver((seen) => {
      for (const { isIntersecting, target } of seen) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        (target.dataset.question ? ask : enliven)(target);
      }
    }, { rootMargin: NEAR });
    for (const node of all("figure[data-panel], [data-question]")) near.observe(node);
  }

  // ---- Code -----------------------------------------------------------------------------------------------------------
  function copying() {
    if (!navigator.clipboard) return; // not a secure context
    for (const pre of all("pre.code")) {
      const copy = button(words.copy, async (node) => {
        await navigator.clipboard.writeText(pre.innerText);
        node.textContent = words.copied;
        setTimeout(() => (node.textContent = words.copy), 2000);
      }, "copy");
      const box = make("div", { class: "copying" });
      pre.replaceWith(box);
      box.append(pre, copy);
    }
  }

  /** Only what scrolls sideways is a tab stop. */
  function stops() {
    const resized = new ResizeObserver((sized) => {
      for (const { target } of sized) {
        if (target.scrollWidth > target.clientWidth + 1) target.tabIndex = 0;
        else target.removeAttribute("tabindex");
      }
    });
    for (const node of all("[role=group][tabindex='0']")) resized.observe(node);
  }

  // ---- Progress --------------------------------------------------------------------------------------------------------
  function marks() {
    const label = document.querySelector(".read");
    const { lesson } = document.querySelector("main").dataset;
    if (!label) return;
    const box = label.querySelector("input");
    box.checked = lesson in kept().read;
    box.addEventListener("change", () => keep(({ read }) => (box.checked ? (read[lesson] = true) : delete read[lesson])));
    label.hidden = false;
  }

  /** On the start page: the lessons read, the predictions made, and the link to continue. */
  function progress() {
    const line = document.querySelector(".progress");
    if (!line) return;
    const rows = all("#lessons li[data-lesson]").filter((row) => row.dataset.lesson);
    const show = () => {
      const { read, guesses, last } = kept();
      const made = Object.values(guesses).filter(([choice]) => choice !== -1);
      const done = rows.filter((row) => row.dataset.lesson in read);
      for (const row of rows) {
        row.querySelector(".done")?.remove();
        if (done.includes(row)) row.append(make("span", { class: "done" }, words.done));
      }
      line.hidden = !done.length && !made.length;
      const right = made.filter(([, was]) => was === true).length;
      const told = filled(words.progress, { read: done.length, last: rows.length, made: made.length, right });
      const forget = button(words.forget, () => (keep((now) => Object.assign(now, { read: {}, guesses: {}, last: null })), show()), "forget");
      line.replaceChildren(`${told} `, make("span", {}, words.kept), " ", forget);
      const begin = document.querySelector(".begin a");
      const row = rows.find((each) => each.dataset.lesson === last?.lesson)?.querySelector("a");
      document.querySelector(".go-on")?.remove();
      if (!row) return;
      const address = row.getAttribute("href") + (last.place && `#${last.place}`);
      begin.before(make("a", { class: "go-on", href: address }, filled(words.go_on, { lesson: row.textContent })), " ");
    };
    show();
  }

  document.querySelector(".tools").prepend(search());
  document.querySelector(".tools").append(themes());
  const lasts = keep(() => {}); // stores the language of this page
  if (!lasts) document.querySelector(".read, .progress")?.after(trouble(words.unkept));
  languages();
  contents();
  copying();
  stops();
  panels();
  marks();
  progress();
  document.documentElement.dataset.script = "runs";
})();
