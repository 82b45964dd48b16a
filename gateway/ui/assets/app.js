'use strict';
// The page in clients that show pages of servers (MCP Apps): it shows what a result has for it, and
// asks the client to open the link of a question. It calls no tool.
(() => {
  const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  let height = -1;
  const resize = () => {
    const now = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (now !== height) send({ method: 'ui/notifications/size-changed', params: { width: innerWidth, height: height = now } });
  };
  addEventListener('message', ({ source, data }) => {
    if (source !== parent || data?.jsonrpc !== '2.0') return;
    switch (data.method) {
      case 'ui/notifications/tool-result': {
        const view = data.params?._meta?.['vaultwicket/view'];
        document.body.innerHTML = typeof view === 'string' ? view : '';
        break;
      }
      case 'ping':
      case 'ui/resource-teardown':
        send({ id: data.id, result: {} });
        break;
      case undefined:
        if (data.id === 1 && data.result) {
          send({ method: 'ui/notifications/initialized', params: {} });
          new ResizeObserver(resize).observe(document.documentElement);
        }
    }
  });
  addEventListener('click', ({ target }) => {
    const url = target.closest?.('[data-link]')?.dataset.link;
    if (url) send({ id: 2, method: 'ui/open-link', params: { url } });
  });
  send({ id: 1, method: 'ui/initialize', params: { protocolVersion: '2026-01-26', appInfo: { name: 'vaultwicket', version: '1' }, appCapabilities: {} } });
})();
