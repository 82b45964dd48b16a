// The page is complete without this file. It refreshes the parts of a view that have
// changed, moves the gate, and tells of new questions. It runs nothing that it is sent: an
// event has only names of parts and numbers, and the view is read again from the server.
'use strict';
(() => {
  const root = document.documentElement;
  const base = root.dataset.base;
  const live = document.getElementById('live');
  const gone = document.getElementById('gone');
  const title = () => document.title.replace(/^\(\d+\) /, '');
  let pending = Number(root.dataset.pending);
  let seen = root.dataset.seen; // the version of this view, or of what was told since
  let stream = null;
  let missed = 0; // the timer of a connection that is lost
  let newer = 0; // calls that a list does not show yet
  let begun = 0; // when the view was last fetched
  let waiting = new Set();
  let reading = false;

  // Times, in the words of the server: see render.go.
  const ago = (seconds) => {
    if (seconds < 5) return 'just now';
    if (seconds < 60) return `${Math.floor(seconds)} s ago`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
    if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h ago`;
    return `${Math.floor(seconds / 86400)} days ago`;
  };
  const left = (seconds) => {
    if (seconds <= 0) return '0:00';
    const minutes = Math.floor(seconds / 60);
    if (minutes >= 48 * 60) return `${Math.floor(minutes / 60 / 24)} days`;
    if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
    return `${minutes}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
  };
  const put = (element, text) => { if (element.textContent !== text) element.textContent = text; };
  const times = () => {
    const now = Date.now();
    for (const t of document.querySelectorAll('time[datetime]')) put(t, ago((now - Date.parse(t.dateTime)) / 1000));
    for (const t of document.querySelectorAll('[data-until]')) put(t, left((Date.parse(t.dataset.until) - now) / 1000));
  };
  setInterval(times, document.querySelector('[data-until]') ? 1000 : 5000);

  // The gate opens for a call that was let through, and rattles for one that was not.
  const gate = document.getElementById('gate');
  let closing = 0;
  const move = (outcome) => {
    clearTimeout(closing);
    gate.classList.remove('open', 'denied');
    void gate.getBoundingClientRect(); // so that the same movement begins again
    if (outcome === 'denied') gate.classList.add('denied');
    else if (outcome === 'allowed' || outcome === 'failed') gate.classList.add('open');
    closing = setTimeout(() => gate.classList.remove('open', 'denied'), 900);
  };

  // A part is replaced by the same part of the view as it is now. What is open stays open,
  // what has the focus keeps it, and what was just moved cannot be pressed by mistake.
  const plain = (part) => { // without what changes with the clock
    const copy = part.cloneNode(true);
    for (const t of copy.querySelectorAll('time, [data-until]')) t.textContent = '';
    for (const b of copy.querySelectorAll('button')) for (const name of ['disabled', 'data-waits', 'data-held']) b.removeAttribute(name);
    for (const b of copy.querySelectorAll('[data-unread]')) b.remove();
    for (const line of copy.querySelectorAll('.row[style]')) line.removeAttribute('style');
    for (const d of copy.querySelectorAll('details')) d.removeAttribute('open');
    return copy.innerHTML;
  };
  const replace = (part, fresh) => {
    if (plain(part) === plain(fresh)) return;
    const selected = getSelection();
    if (selected && !selected.isCollapsed && part.contains(selected.anchorNode)) return; // it is being copied
    const focus = part.contains(document.activeElement) ? document.activeElement.id : '';
    const open = [...part.querySelectorAll('details[open]')].map((d) => d.id);
    const scrolled = [...part.querySelectorAll('.diff')].map((q) => q.scrollTop);
    const careful = 'careful' in part.dataset;
    if (careful && focus && !fresh.querySelector(`#${CSS.escape(focus)}`)) announce('The question that you were at is gone.');
    part.replaceChildren(...document.importNode(fresh, true).childNodes);
    for (const id of open) part.querySelector(`#${CSS.escape(id)}`)?.setAttribute('open', '');
    part.querySelectorAll('.diff').forEach((q, i) => { q.scrollTop = scrolled[i] ?? 0; });
    if (focus) (document.getElementById(focus) ?? document.getElementById('main')).focus({ preventScroll: true });
    if (careful) {
      const buttons = part.querySelectorAll('button');
      for (const button of buttons) {
        button.dataset.held = '';
        button.disabled = true;
      }
      setTimeout(() => {
        for (const button of buttons) {
          delete button.dataset.held;
          button.disabled = 'waits' in button.dataset; // see read.js
        }
      }, 700);
      document.dispatchEvent(new Event('replaced'));
    }
  };
  const announce = (text) => { document.getElementById('said').textContent = text; };
  // However many events come, a view is fetched twice a second at most.
  const every = 500;
  const refresh = async () => {
    if (reading || waiting.size === 0) return;
    reading = true;
    const early = begun + every - performance.now();
    if (begun > 0 && early > 0) await new Promise((resolve) => { setTimeout(resolve, early + 1); });
    begun = performance.now();
    const parts = waiting;
    waiting = new Set();
    try {
      const wanted = [...document.querySelectorAll('[data-live]')].filter((e) => e.dataset.live.split(' ').some((name) => parts.has(name)) && (!('held' in e.dataset) || parts.has('held')));
      if (wanted.length > 0) {
        const answer = await fetch(location.href.split('#')[0], { cache: 'no-store', credentials: 'same-origin' });
        if (answer.ok) {
          const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
          for (const part of wanted) {
            const other = fresh.getElementById(part.id);
            if (other) replace(part, other);
          }
          count(Number(fresh.documentElement.dataset.pending));
          if (parts.has('held')) hold(0);
          gate.classList.toggle('paused', fresh.getElementById('gate').classList.contains('paused'));
        }
      }
    } catch { /* the stream says whether the page is gone */ }
    reading = false;
    times();
    refresh();
  };

  // A list of calls does not move by itself: a button says how many are new, and shows them.
  const fresh = document.getElementById('fresh');
  const hold = (calls) => {
    newer = calls;
    if (!fresh) return;
    fresh.hidden = calls === 0;
    fresh.textContent = `${calls} new ${calls === 1 ? 'call' : 'calls'} ↑`;
  };
  fresh?.addEventListener('click', () => {
    waiting.add('calls').add('held');
    refresh();
  });

  // A line of the settings is copied with a button.
  for (const button of document.querySelectorAll('[data-copy]')) {
    if (!navigator.clipboard) break;
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim());
      announce('Copied.');
      button.textContent = 'Copied';
    });
  }

  // What was done is told once: the address without it is that of the view.
  const note = document.querySelector('p.note');
  const address = new URL(location.href);
  if (address.searchParams.has('answer') && !document.querySelector('#confirm, #plan-title')) {
    address.searchParams.delete('answer');
    history.replaceState(null, '', address);
  }
  if (note) setTimeout(() => { note.remove(); }, 10000);

  // Notifications, while a page is open.
  const notify = document.getElementById('notify');
  const sound = document.getElementById('sound');
  if (notify) {
    notify.hidden = false;
    sound.checked = sessionStorage.getItem('sound') === 'on';
    sound.addEventListener('change', () => {
      sessionStorage.setItem('sound', sound.checked ? 'on' : 'off');
      if (sound.checked) ring();
    });
    const ask = document.getElementById('notify-ask');
    ask.hidden = !('Notification' in window) || Notification.permission !== 'default';
    ask.addEventListener('click', async () => {
      await Notification.requestPermission();
      ask.hidden = true;
    });
  }
  const ring = () => {
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    volume.gain.value = 0.1;
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + 0.15);
    tone.onended = () => audio.close();
  };
  const icon = document.getElementById('icon');
  const count = (waits) => {
    if (waits > pending) {
      announce('A new question waits for you.');
      if (sessionStorage.getItem('sound') === 'on') ring();
      if ('Notification' in window && Notification.permission === 'granted' && document.hidden) {
        // Nothing of the question is shown outside of the page.
        const note = new Notification('vaultwicket', { body: 'An agent asks for your approval.', tag: 'vaultwicket', icon: icon.dataset.plain });
        note.onclick = () => { window.focus(); location.assign(`${base}approvals`); };
      }
    }
    pending = waits;
    const shown = pending > 0 ? icon.dataset.waiting : icon.dataset.plain;
    if (icon.getAttribute('href') !== shown) icon.setAttribute('href', shown);
    document.title = (pending > 0 ? `(${pending}) ` : '') + title();
  };
  // One page that is not seen has a stream, and tells the others how many questions there are.
  const others = 'BroadcastChannel' in window ? new BroadcastChannel(`vaultwicket ${base}`) : null;
  if (others) others.onmessage = (message) => { if (!stream) count(message.data); };
  const told = (event) => {
    count(event.pending);
    others?.postMessage(event.pending);
    if (event.calls) {
      move(event.gate);
      if (document.querySelector('[data-held]')) hold(newer + event.calls);
    }
    for (const part of event.parts) waiting.add(part);
    refresh();
  };

  // A browser has six connections to a server, so only pages that are seen have a stream,
  // and one that is hidden.
  const connect = () => {
    if (stream) return;
    stream = new EventSource(`${base}events?since=${seen}`);
    stream.onopen = () => {
      live.className = 'live on';
      clearTimeout(missed);
      missed = 0;
      gone.hidden = true;
    };
    stream.onmessage = (message) => {
      seen = message.lastEventId;
      told(JSON.parse(message.data));
    };
    stream.onerror = () => {
      live.className = 'live off';
      missed ||= setTimeout(() => { gone.hidden = false; }, 4000); // it is tried again each second
      if (stream && stream.readyState === EventSource.CLOSED) {
        stream = null;
        setTimeout(connect, 5000);
      }
    };
  };
  const disconnect = () => {
    stream?.close();
    stream = null;
    clearTimeout(missed);
    missed = 0;
  };
  let release = null;
  const look = () => {
    release?.();
    release = null;
    if (!document.hidden) {
      connect();
      return;
    }
    if (!navigator.locks) return disconnect();
    navigator.locks.request('vaultwicket', { ifAvailable: true }, (lock) => {
      if (!lock) return disconnect();
      return new Promise((resolve) => { release = resolve; });
    });
  };
  document.addEventListener('visibilitychange', look);
  if (!document.hidden) connect();
})();
