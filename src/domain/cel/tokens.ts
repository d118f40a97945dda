import type { SourceRange } from './types.ts'

/** A piece of the source; `open_text` is a text without its last quote. */
export interface Token extends SourceRange {
  kind: 'word' | 'number' | 'text' | 'open_text' | 'sign'
  text: string
}

const pattern = new RegExp(
  [
    String.raw`(?<skip>//[^\n]*|[ \t\r\n\f]+)`,
    String.raw`(?<text>[rRbB]{0,2}(?:"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?!"")(?:\\.|[^"\\\n])*"|'(?!'')(?:\\.|[^'\\\n])*'))`,
    String.raw`(?<open>"""[^]*|'''[^]*|["'][^\n]*)`,
    String.raw`(?<number>0[xX][\da-fA-F]+u?|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?u?(?![\w]))`,
    String.raw`(?<digits>\d+(?:\.\d+)?)`,
    String.raw`(?<word>[A-Za-z_]\w*)`,
    String.raw`(?<sign>===|!==|==|!=|<>|<=|>=|=>|=<|:=|&&|\|\||\?\?|/\*|\*\*|\x60[^\x60\n]*\x60|[“”„‟«»‘’‚][^“”„‟«»‘’‚\n]*[“”„‟«»‘’‚]|[^])`,
  ].join('|'),
  'gu',
)

/** The source in pieces, also of a faulty one; spaces and comments are left out. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  for (const match of source.matchAll(pattern)) {
    const { skip, text, open, number, digits, word } = match.groups ?? {}
    if (skip !== undefined) continue
    const kind =
      text !== undefined
        ? 'text'
        : open !== undefined
          ? 'open_text'
          : (number ?? digits) !== undefined
            ? 'number'
            : word !== undefined
              ? 'word'
              : 'sign'
    tokens.push({ kind, text: match[0], start: match.index, end: match.index + match[0].length })
  }
  return tokens
}

const operators = new Set(['&&', '||', '==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '?', ':', 'in'])

export const isOperator = (token: Token | undefined): boolean => token !== undefined && operators.has(token.text)

/** Whether a value may end with the token. */
export const endsValue = (token: Token | undefined): boolean =>
  token !== undefined &&
  (token.kind === 'sign' ? token.text === ')' || token.text === ']' || token.text === '}' : !isOperator(token))

/** Whether a value may begin with the token. */
export const beginsValue = (token: Token | undefined): boolean =>
  token !== undefined && (token.kind === 'sign' ? ['(', '[', '!', '-'].includes(token.text) : !isOperator(token))
