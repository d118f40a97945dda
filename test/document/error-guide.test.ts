import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import guide from '../../src/domain/error-guide.json' with { type: 'json' }
import { errorStatus } from '../../src/domain/errors.ts'

const sources = globSync('src/**/*.ts').map((path) => ({ path, text: readFileSync(path, 'utf8') }))

const listQuoted = (files: readonly { text: string }[]): Set<string> =>
  new Set(files.flatMap(({ text }) => [...text.matchAll(/'(\w+)'/g)].map(([, word = '']) => word)))

const quoted = listQuoted(sources)

/** The expression parser has error codes of its own. */
const parserCodes = listQuoted(
  globSync('node_modules/@marcbachmann/cel-js/lib/*.js').map((path) => ({ text: readFileSync(path, 'utf8') })),
)

const placeholder = /\$\{[^}]*\}/g

/** A template with fewer characters outside its placeholders would match nearly every text. */
const minStaticCharacters = 8

/** Lists a pattern for each string in a source file. Its placeholders match any text. */
const listTextPatterns = (source: string): RegExp[] =>
  [...source.matchAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)]
    .map(([literal]) => literal.slice(1, -1).replaceAll(/\\(.)/g, '$1'))
    .filter((text) => text.replaceAll(placeholder, '').length >= minStaticCharacters)
    .map(
      (text) =>
        new RegExp(
          `^${text
            .split(placeholder)
            .map((part) => RegExp.escape(part))
            .join('.+')}$`,
        ),
    )

describe('the error guide', () => {
  it('explains exactly the codes that problem documents can have', () => {
    expect(Object.keys(guide.errors).toSorted()).toEqual(Object.keys(errorStatus).toSorted())
  })

  it('explains no code that nothing answers', () => {
    const used = listQuoted(sources.filter(({ path }) => !path.endsWith('domain/errors.ts')))
    expect(Object.keys(errorStatus).filter((code) => !used.has(code))).toEqual([])
    expect(Object.keys(guide.fields).filter((code) => !quoted.has(code))).toEqual([])
    expect(Object.keys(guide.expressions).filter((code) => !quoted.has(code) && !parserCodes.has(code))).toEqual([])
  })

  it('explains every code that a rule of a contract names', () => {
    const named = sources.flatMap(({ text }) => [...text.matchAll(/params: \{ code: '(\w+)'/g)].map(([, code]) => code))
    expect(named.length).toBeGreaterThan(10)
    const explained = new Set([...Object.keys(guide.fields), ...Object.keys(guide.errors)])
    expect(named.filter((code) => !explained.has(code ?? ''))).toEqual([])
  })

  it('shows error texts that the service returns', () => {
    const patterns = sources.flatMap(({ text }) => listTextPatterns(text))
    const details = [
      ...Object.values(guide.errors).map(({ example }) => example.detail),
      ...Object.values(guide.fields).map(({ detail }) => detail),
    ]
    expect(details.filter((detail) => !patterns.some((pattern) => pattern.test(detail)))).toEqual([])
  })
})
