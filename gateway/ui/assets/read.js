// What is approved was on the screen: the buttons that approve a question wait until every line of new text was, also
// those that a fold hides until it is opened and those on the other parts of a long question. Without this file, or in
// a browser that cannot tell what is on the screen, they do not wait.
'use strict';
(() => {
  if (!('IntersectionObserver' in window)) return;
  const near = new Set(); // lines of which a part is in the window
  const known = new Map(); // what was on the screen of each question, by its id; the lines are made anew when it changes
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) near.add(target);
      else near.delete(target);
    }
    look();
  });
  const questions = () => document.querySelectorAll('[data-part]');
  const linesOf = (question) => [...question.querySelectorAll('.row:is(.added, .quoted)')];
  const partOf = (question) => `${question.dataset.question} ${question.dataset.part}`;

  // The parts of a question that were read are kept for this window, because each is a page.
  const stored = (key) => { try { return sessionStorage.getItem(key) !== null; } catch { return false; } };
  const store = (key) => { try { sessionStorage.setItem(key, ''); } catch { /* it is read again */ } };

  // unseen are the lines of a question that were not on the screen.
  const unseen = (question) => {
    const seen = known.get(partOf(question));
    return linesOf(question).filter((_, i) => !seen?.get(i)?.all);
  };
  const missingParts = (question) => {
    const missing = [];
    for (let part = 1; part < Number(question.dataset.part); part++) {
      if (!stored(`read ${question.dataset.question} ${part}`)) missing.push(part);
    }
    return missing;
  };

  // shown is what is on the screen of a line: from where to where, as parts of its height. What lies over it hides it.
  const shown = (line, question) => {
    const box = line.getBoundingClientRect();
    let top = Math.max(box.top, 0);
    let bottom = Math.min(box.bottom, innerHeight);
    const frame = line.closest('.diff')?.getBoundingClientRect();
    if (frame) {
      top = Math.max(top, frame.top);
      bottom = Math.min(bottom, frame.bottom);
    }
    for (const bar of [...question.querySelectorAll('.answers'), ...document.querySelectorAll('.many')]) {
      const over = bar.getBoundingClientRect();
      if (over.top <= 1) top = Math.max(top, over.bottom);
      else if (over.bottom >= innerHeight - 1) bottom = Math.min(bottom, over.top);
    }
    return { from: (top - box.top) / box.height, to: (bottom - box.top) / box.height, slack: 2 / box.height };
  };

  // look notes what is on the screen, and has the buttons follow.
  const look = () => {
    for (const question of questions()) {
      const key = partOf(question);
      if (!known.has(key)) known.set(key, new Map());
      const seen = known.get(key);
      linesOf(question).forEach((line, i) => {
        if (!near.has(line) || seen.get(i)?.all) return;
        const { from, to, slack } = shown(line, question);
        if (to <= from) return;
        const before = seen.get(i);
        const goesOn = before && from <= before.to + slack && to >= before.from - slack;
        const span = goesOn ? { from: Math.min(from, before.from), to: Math.max(to, before.to), slack } : { from, to, slack };
        span.all = span.from <= slack && span.to >= 1 - slack;
        seen.set(i, span);
        if (span.all) observer.unobserve(line);
      });
      if (unseen(question).length === 0) store(`read ${question.dataset.question} ${question.dataset.part}`);
    }
    follow();
  };

  // follow has the buttons wait or not, and says for what.
  const follow = () => {
    const unread = new Set();
    for (const question of questions()) {
      const rest = unseen(question).length;
      const parts = missingParts(question);
      const waits = rest > 0 || parts.length > 0;
      if (waits) unread.add(question);
      for (const button of question.querySelectorAll('button[data-approves]')) wait(button, waits);
      const next = question.querySelector('[data-unread]');
      if (!next) continue;
      next.hidden = !waits || !question.querySelector('button[data-approves]') && rest === 0;
      const text = rest > 0
        ? `${rest} new ${rest === 1 ? 'line was' : 'lines were'} not on the screen yet: show`
        : `Part ${parts[0]} was not read to its end: show`;
      if (next.textContent !== text) next.textContent = text;
    }
    for (const button of document.querySelectorAll('#many [data-approves]')) {
      const picked = [...document.querySelectorAll('input[form="many"]:checked')];
      // Whoever answers several has read each of them in this view.
      const isRead = (question) => !unread.has(question) && question.querySelector('button[data-approves]');
      wait(button, !picked.every((box) => isRead(box.closest('[data-part]'))));
    }
  };
  // A button that page.js holds back for a moment stays so.
  const wait = (button, waits) => {
    if (waits) button.dataset.waits = '';
    else delete button.dataset.waits;
    button.disabled = waits || 'held' in button.dataset;
  };

  // go shows the first line that was not on the screen, at the top of the window.
  const go = (question) => {
    const line = unseen(question)[0];
    if (!line) {
      const [part] = missingParts(question);
      const query = new URLSearchParams(location.search);
      query.set('part', part);
      if (part) location.search = query;
      return;
    }
    for (let fold = line.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    const bar = question.querySelector('.answers');
    const isAbove = getComputedStyle(bar).position === 'sticky' && getComputedStyle(bar).top !== 'auto';
    line.style.scrollMarginTop = `${isAbove ? bar.offsetHeight : 0}px`;
    line.scrollIntoView({ block: 'start' });
    const seen = known.get(partOf(question))?.get(linesOf(question).indexOf(line));
    if (seen?.from <= seen?.slack) line.closest('.diff').scrollTop += seen.to * line.offsetHeight; // a long line goes on
    requestAnimationFrame(look);
  };

  const watch = () => {
    for (const question of questions()) {
      const seen = known.get(partOf(question));
      linesOf(question).forEach((line, i) => { if (!seen?.get(i)?.all) observer.observe(line); });
    }
    look();
  };
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      look();
    });
  };
  addEventListener('scroll', soon, { capture: true, passive: true });
  addEventListener('resize', soon);
  document.addEventListener('toggle', soon, true);
  document.addEventListener('change', follow);
  document.addEventListener('click', ({ target }) => {
    const next = target.closest?.('[data-unread]');
    if (next) go(next.closest('[data-part]'));
  });
  document.addEventListener('replaced', watch); // see page.js
  watch();
})();
