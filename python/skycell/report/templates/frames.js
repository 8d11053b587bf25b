// A picture of several moments shows the one that its slider is at; without this script, the first.
// A figure that joins the page later is played once the event "frames" has come to it.
function playFrames(figure) {
  const frames = [...figure.querySelectorAll("g[data-text]")];
  const [player, slider, button] = [".player", "input", "button"].map(part => figure.querySelector(part));
  const shown = figure.querySelector(".shown");
  const show = () => frames.forEach((frame, number) => {
    const isShown = number === Number(slider.value);
    frame.setAttribute("display", isShown ? "inline" : "none");
    if (isShown) shown.textContent = frame.dataset.text;
  });
  let playing = null;
  const stop = () => { clearInterval(playing); playing = null; button.textContent = "Play"; };
  button.addEventListener("click", () => {
    if (playing) return stop();
    button.textContent = "Stop";
    playing = setInterval(() => {
      slider.value = (Number(slider.value) + 1) % frames.length;
      show();
      slider.dispatchEvent(new Event("played", { bubbles: true }));
    }, 400);
  });
  slider.addEventListener("input", () => { stop(); show(); });
  player.hidden = frames.length < 2;
  show();
}
document.querySelectorAll("figure.frames").forEach(playFrames);
document.addEventListener("frames", event => playFrames(event.target));
