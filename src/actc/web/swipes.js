// @ts-check
// A finger drags the card: sideways it answers, up and down it scrolls.
// Touch events, not pointer events: only they can still take a movement from the browser once its direction is known.

const REACH = 80; // pixels that a finger moves before it means an answer

const answerBy = (x, y) => Math.abs(x) > REACH && Math.abs(x) > 1.5 * Math.abs(y) ? (x > 0 ? "true" : "false") : "";

export function startSwipes(card, answer) {
  let drag = null;
  const letGo = () => {
    drag = null;
    card.style.transform = "";
    delete card.dataset.would;
  };
  card.addEventListener("touchstart", (event) => {
    letGo();
    const [finger] = event.touches;
    if (event.touches.length === 1) drag = { x: finger.clientX, y: finger.clientY, ours: null };
  }, { passive: true });
  card.addEventListener("touchmove", (event) => {
    if (!drag) return;
    if (event.touches.length !== 1) return letGo();
    const x = event.touches[0].clientX - drag.x;
    const y = event.touches[0].clientY - drag.y;
    drag.ours ??= Math.abs(x) > Math.abs(y);
    if (!drag.ours) return;
    if (event.cancelable) event.preventDefault();
    card.style.transform = `translate(${x}px) rotate(${x / 60}deg)`;
    card.dataset.would = answerBy(x, y);
  }, { passive: false });
  card.addEventListener("touchend", (event) => {
    const [finger] = event.changedTouches;
    const meaning = drag?.ours ? answerBy(finger.clientX - drag.x, finger.clientY - drag.y) : "";
    letGo();
    if (meaning) answer(meaning);
  });
  card.addEventListener("touchcancel", letGo);
}
