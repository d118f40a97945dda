/** Texts that mrml writes into every message, and shorter ones that mail programs show alike. */
const replacements: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\n/g, ''],
  // The end of a comment for Outlook and the begin of the next one.
  [/<!\[endif\]--><!--\[if mso \| IE\]>/g, ''],
  // Outlook 2003, and a rule for Internet Explorer's modes of compatibility.
  [
    /<!--\[if lte mso 11\]><style type="text\/css">\.mj-outlook-group-fix \{ width:100% !important; \}<\/style><!\[endif\]-->/g,
    '',
  ],
  [/<!--\[if !mso\]><!--><meta http-equiv="X-UA-Compatible" content="IE=edge"><!--<!\[endif\]-->/g, ''],
  // Columns of the whole width have it in their own styles too.
  [/\.mj-column-per-100 \{ width:100% !important; max-width:100%; \} ?/g, ''],
  [/\.moz-text-html (?=[<.])/g, ''],
  [/<style type="text\/css">@media only screen and \(min-width:480px\) \{ *\}<\/style>/g, ''],
  [/<style media="screen and \(min-width:480px\)"> *<\/style>/g, ''],
  [/ class="mj-outlook-group-fix mj-column-per-100"/g, ''],
]

/** Makes the HTML of a message shorter. It contains placeholders for the texts, and none of them. */
export const shorten = (html: string): string =>
  replacements.reduce((text, [pattern, replacement]) => text.replaceAll(pattern, replacement), html)
