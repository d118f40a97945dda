import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Check, checks } from '../src/domain/edition-health/index.ts'
import { type Operation, tags } from '../src/http/operation.ts'
import { root } from './support/paths.ts'
import { type DescribedDocument, nullsPage } from './support/nulls.ts'
import { importWasm } from './support/wasm.ts'

importWasm()
const { operations, routers } = await import('../src/app.ts')
const { openApiDocument } = await import('../src/http/openapi.ts')

const row = ({ method, path, id, summary, roles }: Operation): string =>
  `| \`${method.toUpperCase()}\` | \`${path}\` | \`${id}\` | ${summary} | ${roles.length ? roles.join(' ') : 'superuser'} |`

const tables = tags.flatMap((tag) => {
  const own = operations.filter((operation) => operation.tag === tag)
  if (own.length === 0) return []
  return [
    `**${tag}**`,
    ['| | Path | Operation | | Roles |', '| --- | --- | --- | --- | --- |', ...own.map(row)].join('\n'),
  ]
})

const checkRow = ({ id, severity, rule, suggestion }: Check): string =>
  `| \`${id}\` | ${severity} | ${rule} | ${suggestion} |`

const checkTable = [
  '| Check | | What it wants | What to do |',
  '| --- | --- | --- | --- |',
  ...checks.map(checkRow),
].join('\n')

/** The text with what stands between the marks of a section replaced. */
function withSection(text: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name}: npm run readme -->`, `<!-- /${name} -->`]
  const [start, stop] = [text.indexOf(begin), text.indexOf(end)]
  if (start < 0 || stop < start) throw new Error(`README.md has lost the marks of its section ${name}.`)
  return `${text.slice(0, start + begin.length)}\n\n${content}\n\n${text.slice(stop)}`
}

// Formatting pads the columns of tables.
const bare = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/-+/g, '-')

/** Writes the page anew where it is stale, or fails where that is only asked. */
async function renew(name: string, make: (before: string) => string): Promise<void> {
  const file = join(root, name)
  const before = await readFile(file, 'utf8').catch(() => '')
  const after = make(before)
  if (bare(before) === bare(after)) return
  if (process.argv.includes('--check')) {
    console.error(`${name} is stale. Run: npm run readme`)
    process.exitCode = 1
  } else await writeFile(file, after)
}

await renew('README.md', (before) =>
  withSection(withSection(before, 'operations', tables.join('\n\n')), 'checks', checkTable),
)
const document = JSON.parse(JSON.stringify(openApiDocument(routers))) as DescribedDocument
await renew('docs/nulls.md', () => nullsPage(document))
