// @ts-check
// Files go to the server as they are, one after the other, each with a bar.

import { drawProgress, element, sentenceOf, showShare } from "../draw.js";

function sendFile(address, file, onProgress) {
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

// Send files into a project; returns why some were refused, or are not used.
export async function sendFiles(project, files, list) {
  const refused = [];
  for (const file of files) {
    const bar = drawProgress(`Upload of ${file.name}`);
    const line = element("li", {}, element("bdi", {}, file.name), " ", bar);
    list.append(line);
    const reply = await sendFile(`${project}/files/${encodeURIComponent(file.name)}`, file, (share) => showShare(bar, share));
    line.remove();
    if (reply.status !== 200) refused.push(`${file.name}: ${sentenceOf(reply)}`);
    else if (reply.content.other) refused.push(`${file.name} is not used: ${reply.content.other} is the ${reply.content.guess} already. Say in the list what each is.`);
  }
  return refused;
}

// The page of the project, which opens next, shows what was refused.
const keyOf = (name) => `actc:sent:${name}`;
export const remember = (name, refused) => sessionStorage.setItem(keyOf(name), refused.join("\n"));

export function recall(name) {
  const refused = sessionStorage.getItem(keyOf(name)) ?? "";
  sessionStorage.removeItem(keyOf(name));
  return refused;
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
