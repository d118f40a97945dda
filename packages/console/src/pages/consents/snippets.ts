import type { Schema } from '../../api'

export type Snippet = 'link' | 'frame' | 'form'

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => escapes[sign] ?? sign)

type Form = Pick<Schema['SignupForm'], 'public_url' | 'title' | 'name' | 'languages' | 'consent_ids'>

/** HTML that brings a sign-up form onto another site. */
export function writeSnippet(kind: Snippet, form: Form, signUp: string): string {
  const [language = 'en'] = form.languages
  const address = escapeHtml(form.public_url)
  const title = escapeHtml((form.title as Record<string, string>)[language] ?? form.name)
  if (kind === 'link') return `<a href="${address}">${title}</a>`
  if (kind === 'frame')
    return `<iframe src="${address}" title="${title}" width="100%" height="480" style="border: 0"></iframe>`
  return [
    `<form method="post" action="${address}">`,
    '  <input type="email" name="email" required />',
    ...form.consent_ids.map((id) => `  <label><input type="checkbox" name="consent" value="${id}" /> …</label>`),
    `  <input type="hidden" name="language" value="${language}" />`,
    '  <input name="homepage" tabindex="-1" autocomplete="off" aria-hidden="true" style="position: absolute; left: -100vw" />',
    `  <button>${escapeHtml(signUp)}</button>`,
    '</form>',
  ].join('\n')
}
