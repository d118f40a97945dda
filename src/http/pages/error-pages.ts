import { html } from 'hono/html'
import { errorGuide, expressionFields, fieldGuide } from '../../domain/error-guide.ts'
import { AppError, type ErrorCode, errorStatus } from '../../domain/errors.ts'
import type { FieldCode } from '../../domain/field-error.ts'
import { buildErrorPath, buildProblem } from '../problem.ts'
import { htmlPage, type Markup, pageStyle } from './html-page.ts'

export const layout = (title: string, content: Markup): Markup =>
  htmlPage({
    language: 'en',
    title,
    style: pageStyle,
    body: html`<header><a href="/docs">API documentation</a><a href="/docs/errors">Errors</a></header>
      <main>${content}</main>`,
  })

/** Text between backticks is code. */
const prose = (text: string): Markup =>
  html`${text.split('`').map((part, index) => (index % 2 ? html`<code>${part}</code>` : html`${part}`))}`

const link = (code: string): Markup => html`<a href="${buildErrorPath(code)}"><code>${code}</code></a>`

const codes = Object.keys(errorStatus) as ErrorCode[]
const fieldCodes = Object.keys(fieldGuide) as FieldCode[]

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorStatus, code)
const isFieldCode = (code: string): code is FieldCode => Object.hasOwn(fieldGuide, code)

const example = { path: '/v1/editions/edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', requestId: 'req_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' }

/** An example body, made by the function that makes real responses. */
function exampleBody(code: ErrorCode, address: (path: string) => string): string {
  const { detail, errors = [], extra = {}, path = example.path } = errorGuide[code].example
  const { body } = buildProblem(new AppError(code, detail, { errors, extra }), {
    path,
    requestId: example.requestId,
    type: address(buildErrorPath(code)),
  })
  return JSON.stringify(JSON.parse(body), null, 2)
}

const explanation = ({ cause, fix }: { cause: string; fix?: string }): Markup =>
  html`<h2>Cause</h2>
    <p>${prose(cause)}</p>
    ${
      fix === undefined
        ? ''
        : html`<h2>What to do</h2>
            <p>${prose(fix)}</p>`
    }`

function errorSection(code: ErrorCode, address: (path: string) => string): Markup {
  return html`<h1><code>${code}</code></h1>
    <p class="soft">A problem document with the status ${errorStatus[code]}.</p>
    ${explanation(errorGuide[code])}
    <h2>Example</h2>
    <pre>${exampleBody(code, address)}</pre>`
}

function fieldSection(code: FieldCode): Markup {
  const { detail } = fieldGuide[code]
  return html`<h1><code>${code}</code></h1>
    <p class="soft">The code of an entry of <code>errors</code>.</p>
    ${explanation(fieldGuide[code])}
    <h2>Example</h2>
    <pre>${JSON.stringify({ code, detail }, null, 2)}</pre>`
}

/** The page about a code; null for an unknown code. */
export function codePage(code: string, address: (path: string) => string): Markup | null {
  const sections = [
    ...(isErrorCode(code) ? [errorSection(code, address)] : []),
    ...(isFieldCode(code) ? [fieldSection(code)] : []),
  ]
  return sections.length ? layout(`Error ${code}`, html`${sections}`) : null
}

const markdownExplanation = ({ cause, fix }: { cause: string; fix?: string }): string[] => [
  cause,
  ...(fix === undefined ? [] : ['**What to do:** ' + fix]),
]

const jsonBlock = (json: string): string => `\`\`\`json\n${json}\n\`\`\``

/** The page about a code in Markdown; null for an unknown code. */
export function codeMarkdown(code: string, address: (path: string) => string): string | null {
  const parts = [
    ...(isErrorCode(code)
      ? [
          `A problem document with the status ${errorStatus[code]}.`,
          ...markdownExplanation(errorGuide[code]),
          jsonBlock(exampleBody(code, address)),
        ]
      : []),
    ...(isFieldCode(code)
      ? [
          'The code of an entry of `errors`.',
          ...markdownExplanation(fieldGuide[code]),
          jsonBlock(JSON.stringify({ code, detail: fieldGuide[code].detail }, null, 2)),
        ]
      : []),
  ]
  return parts.length ? `${[`# ${code}`, ...parts].join('\n\n')}\n` : null
}

/** All codes with their causes, each once. */
export const listCodes = (): { code: string; cause: string }[] => [
  ...codes.map((code) => ({ code, cause: errorGuide[code].cause })),
  ...fieldCodes.filter((code) => !isErrorCode(code)).map((code) => ({ code, cause: fieldGuide[code].cause })),
]

const fieldList = (list: readonly FieldCode[]): Markup =>
  html`<ul class="codes plain">
    ${list.map((code) => html`<li>${link(code)}<span>${prose(fieldGuide[code].cause)}</span></li>`)}
  </ul>`

export const indexPage = (): Markup =>
  layout(
    'Errors of the API',
    html`<h1>Errors</h1>
      <p>
        Every error is a problem document (RFC 9457). Your program can rely on its <code>code</code>, which never
        changes. Its <code>type</code> is the address of the page about the code.
      </p>
      <h2>Error codes</h2>
      <ul class="codes">
        ${codes.map(
          (code) =>
            html`<li>
              <span class="soft">${errorStatus[code]}</span>${link(code)}<span>${prose(errorGuide[code].cause)}</span>
            </li>`,
        )}
      </ul>
      <h2>Field codes</h2>
      <p>Each entry in <code>errors</code> names a field or a parameter and has one of these codes.</p>
      ${fieldList(fieldCodes.filter((code) => !Object.hasOwn(expressionFields, code)))}
      <h2>Expression codes</h2>
      <p>Entries about the expression of a segment also give the place in its text.</p>
      ${fieldList(fieldCodes.filter((code) => Object.hasOwn(expressionFields, code)))}`,
  )
