import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Check, checks } from '../src/domain/edition-health/index.ts'
import { type Operation, tags } from '../src/http/operation.ts'
import { root } from './support/paths.ts'
import { importWasm } from './support/wasm.ts'

importWasm()
const { operations } = await import('../src/app.ts')

const file = join(root, 'README.md')

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

const before = await readFile(file, 'utf8')
const after = withSection(withSection(before, 'operations', tables.join('\n\n')), 'checks', checkTable)
// Formatting pads the columns of tables.
const bare = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/-+/g, '-')
if (bare(before) === bare(after)) process.exit()
if (process.argv.includes('--check')) {
  console.error('The tables in README.md are stale. Run: npm run readme')
  process.exit(1)
}
await writeFile(file, after)
