/** Forms for the questions of models and of MCP servers. */

import { element } from "../../page/assets/dom.js";
import { line, safe } from "./texts.js";

let next = 0;

/** Returns a label and its control. */
function field(label, control, hint) {
  const id = `field-${++next}`;
  control.id = id;
  const parts = [element("label", { for: id }, ...safe(label)), control];
  if (hint) {
    control.setAttribute("aria-describedby", `${id}-hint`);
    parts.push(element("span", { class: "quiet", id: `${id}-hint` }, ...safe(hint)));
  }
  return element("div", { class: "field" }, ...parts);
}

/**
 * Returns the parts of the form for questions of a model, and a function that returns the answers, or null if one is
 * missing.
 *
 * @param {{id: string, header: string, question: string, options?: {label: string, description: string}[], isOther?: boolean, isSecret?: boolean}[]} questions
 */
export function questionForm(questions) {
  const readers = [];
  const parts = questions.map(({ id, header, question, options, isOther, isSecret }) => {
    const group = element("fieldset", {}, element("legend", {}, ...safe(header || "Question")), element("p", { class: "prose" }, ...safe(question)));
    const name = `question-${++next}`;
    const radios = (options ?? []).map(({ label, description }) => {
      const radio = element("input", { type: "radio", name, value: label });
      group.append(element("label", { class: "option" }, radio, " ", element("strong", {}, ...safe(label)), description ? " " : "", element("span", { class: "quiet" }, ...safe(description ?? ""))));
      return radio;
    });
    let other = null;
    if (isOther !== false || radios.length === 0) {
      other = element("input", { type: isSecret ? "password" : "text", autocomplete: "off" });
      group.append(field(radios.length === 0 ? "Answer" : "Another answer", other));
      other.addEventListener("input", () => {
        if (other.value) radios.forEach((radio) => (radio.checked = false));
      });
    }
    readers.push(() => {
      const chosen = radios.find((radio) => radio.checked)?.value;
      const answers = [chosen, other?.value.trim()].filter(Boolean);
      return [id, answers];
    });
    return group;
  });
  const read = () => {
    const answers = readers.map((reader) => reader());
    if (answers.some(([, given]) => given.length === 0)) return null;
    return Object.fromEntries(answers.map(([id, given]) => [id, { answers: given }]));
  };
  return { parts, read };
}

/**
 * Returns the parts of the form for an elicitation, and a function that returns its content. The schema has properties of
 * simple types only; for another type, JSON can be written.
 *
 * @param {{properties?: Object<string, object>, required?: string[]}} schema
 */
export function schemaForm(schema) {
  const required = new Set(schema?.required ?? []);
  const fields = Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { control, read } = controlFor(property ?? {});
    if (required.has(name) && control.type !== "checkbox") control.required = true;
    const label = `${property?.title || name}${required.has(name) ? "" : " (optional)"}`;
    return { name, node: field(line(label, 200), control, property?.description), read };
  });
  const read = () => {
    const content = {};
    for (const { name, read } of fields) {
      const value = read();
      if (value !== undefined) content[name] = value;
    }
    return content;
  };
  return { parts: fields.map(({ node }) => node), read };
}

function controlFor(property) {
  const choices = property.enum ?? property.oneOf?.map((choice) => choice.const);
  if (Array.isArray(choices)) {
    const titles = property.enumNames ?? property.oneOf?.map((choice) => choice.title) ?? [];
    const select = element("select", {}, element("option", { value: "", text: "" }), ...choices.map((value, at) => element("option", { value: at, text: line(titles[at] ?? value, 200) })));
    const given = choices.indexOf(property.default);
    if (given >= 0) select.value = String(given);
    return { control: select, read: () => (select.value === "" ? undefined : choices[Number(select.value)]) };
  }
  if (property.type === "boolean") {
    const box = element("input", { type: "checkbox", checked: property.default === true });
    return { control: box, read: () => box.checked };
  }
  if (property.type === "number" || property.type === "integer") {
    const number = element("input", { type: "number", step: property.type === "integer" ? "1" : "any", min: property.minimum ?? null, max: property.maximum ?? null, value: property.default ?? null });
    return { control: number, read: () => (number.value === "" ? undefined : Number(number.value)) };
  }
  const kinds = { email: "email", uri: "url", date: "date" };
  const isText = property.type === "string" || property.type === undefined;
  const text = element("input", { type: kinds[property.format] ?? "text", minlength: property.minLength ?? null, maxlength: property.maxLength ?? null, value: isText ? (property.default ?? null) : null, autocomplete: "off", placeholder: isText ? null : "JSON" });
  const read = () => {
    if (text.value === "") return undefined;
    if (isText) return text.value;
    try {
      return JSON.parse(text.value);
    } catch {
      return text.value;
    }
  };
  return { control: text, read };
}
