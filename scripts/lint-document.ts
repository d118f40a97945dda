import { lintFromString, createConfig } from '@redocly/openapi-core'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import parsers from '@stoplight/spectral-parsers'
import rulesets from '@stoplight/spectral-rulesets'
import { importWasm } from './support/wasm.ts'

importWasm()
const { operations, routers } = await import('../src/app.ts')
const { openApiDocument } = await import('../src/http/openapi.ts')

/** The rules of Spectral that the document does not follow, with the reason. */
const exceptions = {
  'info-contact': 'The operator of the service knows whom to ask. The program does not.',
  'license-url': 'OpenAPI 3.1 takes an SPDX identifier or an address, not both.',
  'openapi-tags-alphabetical': 'Groups stand in the order in which one meets them.',
  'owasp:api4:2023-string-limit':
    'test/document/complete.test.ts asks it of what clients send. Answers show what is stored.',
  'owasp:api4:2023-array-limit': 'The same.',
  'owasp:api4:2023-integer-limit': 'The same.',
  'owasp:api4:2023-string-restricted': 'Names and texts are free.',
  'owasp:api4:2023-integer-format': 'The same test asks it of all but page_size, whose larger values are clamped.',
  'owasp:api2:2023-no-credentials-in-url': 'It takes `token_id`, the id of a token, for the token.',
  'owasp:api4:2023-rate-limit': 'It does not know RateLimit-Policy, the present form; the same test asks for that.',
} as const

/** The rules of Spectral about tokens, which operations that need none do not follow. */
const tokenRules: unknown[] = [
  'owasp:api2:2023-read-restricted',
  'owasp:api2:2023-write-restricted',
  'owasp:api8:2023-define-error-responses-401',
]

const off = Object.fromEntries(Object.keys(exceptions).map((name) => [name, 'off']))
const ruleset = {
  extends: [
    [rulesets.oas, 'all'],
    [owasp, 'all'],
  ],
  rules: off,
} as RulesetDefinition

/** True if the operation at this path of the document needs no token. */
const isPublic = ([, path, method]: readonly unknown[]): boolean =>
  operations.some((operation) => operation.isPublic && operation.path === path && operation.method === method)

async function lintWithSpectral(text: string): Promise<string[]> {
  const linter = new spectral.Spectral()
  linter.setRuleset(ruleset)
  const problems = await linter.run(new spectral.Document(text, parsers.Json, 'openapi.json'))
  return problems
    .filter(({ code, path }) => !(tokenRules.includes(code) && isPublic(path)))
    .map(({ code, path, message }) => `spectral ${code} ${path.join('.')}: ${message}`)
}

async function lintWithRedocly(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location }) => `redocly ${ruleId} ${location[0]?.pointer ?? ''}: ${message}`)
}

const text = JSON.stringify(openApiDocument(routers))
const problems = [...(await lintWithRedocly(text)), ...(await lintWithSpectral(text))]
for (const line of problems.slice(0, 50)) console.error(line)
if (problems.length) {
  console.error(`${problems.length} faults of the OpenAPI document.`)
  process.exitCode = 1
}
