// Files go to the server as they are, one after the other, each with a bar that says how far it is.

import { element } from "../draw.js";

export function sendFile(address, file, onProgress) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("PUT", address);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => event.lengthComputable && onProgress(event.loaded / event.total));
    request.addEventListener("load", () => resolve({ status: request.status, content: request.response }));
    request.addEventListener("error", () => resolve({ status: 0, content: null }));
    request.send(file);
  });
}

// Send files into a project; ``told`` gets what was said of each that was not taken. Returns the roles of the others.
export async function sendFiles(project, files, list, told) {
  const roles = [];
  for (const file of files) {
    const bar = element("span", { class: "progress", role: "progressbar", "aria-label": `Upload of ${file.name}`, "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "0" }, element("span", {}));
    const line = element("li", {}, element("bdi", {}, file.name), " ", bar);
    list.append(line);
    const show = (share) => {
      bar.firstChild.style.width = `${100 * share}%`;
      bar.setAttribute("aria-valuenow", String(Math.round(100 * share)));
    };
    const reply = await sendFile(`${project}/files/${encodeURIComponent(file.name)}`, file, show);
    line.remove();
    if (reply.status === 200) roles.push(reply.content.role);
    else told(file, reply);
  }
  return roles;
}

// Files that are dropped on a place, or chosen by its button.
export function takeDrops(place, input, onFiles) {
  for (const name of ["dragenter", "dragover"]) {
    place.addEventListener(name, (event) => {
      event.preventDefault();
      place.classList.add("over");
    });
  }
  for (const name of ["dragleave", "drop"]) place.addEventListener(name, () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    onFiles([...event.dataTransfer.files]);
  });
  input.addEventListener("change", () => {
    onFiles([...input.files]);
    input.value = "";
  });
}

export function bytes(count) {
  const units = ["B", "KB", "MB", "GB"];
  let place = 0;
  while (count >= 1000 && place < 3) [count, place] = [count / 1000, place + 1];
  return `${place && count < 10 ? count.toFixed(1) : Math.round(count)}\u00a0${units[place]}`;
}
