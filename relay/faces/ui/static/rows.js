// Many rows of one height, of which only those in sight are in the document.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";

const ROW = 20;
const BEYOND = 15;

/**
 * `row(index)` draws one. `at` (with `mark`, which changes when it is meant anew) is brought into
 * sight; with `follow` the last one is, as long as the reader stays at the end.
 */
export function Rows({ count, row, at, mark, follow, label, role, className, onKeyDown, height = ROW }) {
  const box = useRef(null);
  const atEnd = useRef(true);
  const [sight, look] = useState({ top: 0, height: 400 });

  const measure = () => {
    const { scrollTop, clientHeight, scrollHeight } = box.current;
    atEnd.current = scrollTop + clientHeight >= scrollHeight - height;
    look((old) =>
      old.top === scrollTop && old.height === clientHeight ? old : { top: scrollTop, height: clientHeight },
    );
  };
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (follow && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [count, follow]);
  useLayoutEffect(() => {
    if (at === undefined || at === null || at < 0) return;
    const { scrollTop, clientHeight } = box.current;
    if (at * height < scrollTop || (at + 2) * height > scrollTop + clientHeight)
      box.current.scrollTop = Math.max(0, at * height - clientHeight / 2);
    measure();
  }, [at, mark, count > 0]);

  const first = Math.max(0, Math.floor(sight.top / height) - BEYOND);
  const last = Math.min(count, Math.ceil((sight.top + sight.height) / height) + BEYOND);
  const shown = [];
  for (let index = first; index < last; index++) shown.push(row(index));
  return html`<div class=${`rows ${className ?? ""}`} ref=${box} onScroll=${measure} onKeyDown=${onKeyDown}
      tabindex="0" role=${role ?? "group"} aria-label=${label}>
    <div class="all" style=${{ height: `${count * height}px` }}>
      <div class="shown" style=${{ transform: `translateY(${first * height}px)` }}>${shown}</div>
    </div>
  </div>`;
}
