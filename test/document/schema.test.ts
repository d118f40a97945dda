import { describe, expect, it } from 'vitest'
import { findStaleFiles } from '../../scripts/support/schema/compare-files.ts'
import { type Migration, readMigrations } from '../../scripts/support/schema/read-tables.ts'
import { buildSchema, type ColumnTypes } from '../../scripts/support/schema/write-tables.ts'
import { json, types } from '../../src/db/column-types.ts'

const migrations = await readMigrations()

/** The migrations with another text in place of one that occurs once. */
function replaceInMigrations(before: string, after: string): Migration[] {
  expect(migrations.filter(({ text }) => text.includes(before))).toHaveLength(1)
  return migrations.map(({ name, text }) => ({ name, text: text.replace(before, after) }))
}

const orders = 'src/db/schema/orders.ts'
const staleOrders = [`${orders} is stale. Run: npm run schema`]

describe('the tables of src/db/schema', () => {
  it('are what npm run schema makes of the migrations', async () => {
    expect(await findStaleFiles(await buildSchema(migrations, types))).toEqual([])
  })

  it.each([
    ['loses a constraint', 'items_count integer not null', 'items_count integer'],
    ['has another type', 'items_count integer not null', 'items_count real not null'],
    ['has another name', 'items_count integer not null', 'item_count integer not null'],
    ['has another default', `number_folded text not null default ''`, `number_folded text not null default 'none'`],
    ['is new', 'items_count integer not null', 'items_count integer not null,\n  parts_count integer'],
    ['is described anew', '  -- The cart as JSON.', '  -- The cart, as JSON.'],
  ])('are stale when a column of a migration %s', async (_, before, after) => {
    expect(await findStaleFiles(await buildSchema(replaceInMigrations(before, after), types))).toEqual(staleOrders)
  })

  it('are stale when a table loses its migration, or a migration adds one', async () => {
    const renamed = migrations.map(({ name, text }) => ({ name: name.replace('sweep_positions', 'sweeps'), text }))
    expect(await findStaleFiles(await buildSchema(renamed, types))).toEqual([
      'src/db/schema/sweep-positions.ts is stale. Run: npm run schema',
      'src/db/schema/sweeps.ts is stale. Run: npm run schema',
    ])
  })
})

/** Makes the file of a room `notes` with this table alone. */
async function buildNotes(text: string, columnTypes: ColumnTypes = {}): Promise<string> {
  const schema = await buildSchema([{ name: '0001_notes.sql', text }], columnTypes)
  return schema.get('src/db/schema/notes.ts') ?? ''
}

describe('npm run schema', () => {
  it('declares keys, defaults, flags and comments of a table', async () => {
    const text = await buildNotes(
      `-- Notes of people.

-- A note.
create table note_texts (
  person_id text not null,
  number integer not null,
  -- The words, which \`search\` finds */ or not.
  body text not null default 'it''s',
  is_open integer not null default 1 check (is_open in (0, 1)),
  is_counted integer not null check (is_counted in (0, 1)),
  tags text not null default '["a"]',
  language text not null,
  code text not null unique default ('\`\${1}' || 'b'),
  parent_id text references note_texts (code),
  unique (code, language),
  primary key (number, person_id)
) strict, without rowid;`,
      { note_texts: { is_counted: 'number', tags: json(), language: ['en', 'da'] } },
    )
    expect(text).toContain('//\n// Notes of people.\n')
    expect(text).toContain(`/** A note. */\nexport const noteTexts = sqliteTable(\n  'note_texts',`)
    expect(text).toContain('    person_id: text().notNull(),\n    number: integer().notNull(),\n')
    expect(text).toContain(
      '    /** The words, which `search` finds * / or not. */\n    body: text().notNull().default("it\'s"),\n',
    )
    expect(text).toContain(`    is_open: integer({ mode: 'boolean' }).notNull().default(true),\n`)
    expect(text).toContain('    is_counted: integer().notNull(),\n')
    expect(text).toContain(
      `    tags: text({ mode: 'json' }).$type<typeof types.note_texts.tags.value>().notNull().default(['a']),\n`,
    )
    expect(text).toContain('    language: text({ enum: types.note_texts.language }).notNull(),\n')
    expect(text).toContain(".default(sql`('\\`\\${1}' || 'b')`),\n")
    expect(text).toContain('    parent_id: text(), // references note_texts (code)\n')
    expect(text).toContain(
      'primaryKey({ columns: [table.number, table.person_id] }), unique().on(table.code, table.language)',
    )
  })

  it('adds what a later migration adds to a table, with its comment', async () => {
    const schema = await buildSchema(
      [
        { name: '0001_notes.sql', text: 'create table notes (\n  id text primary key\n) strict;' },
        {
          name: '0002_add_titles.sql',
          text: '-- Titles of notes.\n\n-- What lists show.\nalter table notes add column title text;',
        },
      ],
      {},
    )
    expect([...schema.keys()]).toEqual(['src/db/schema/notes.ts'])
    expect(schema.get('src/db/schema/notes.ts')).toContain('  /** What lists show. */\n  title: text(),\n')
  })

  it('reads a table that a later migration builds anew, and one that it adds to the group', async () => {
    const first = `-- Notes of people.

-- A note.
create table notes (
  -- The name.
  id text primary key,
  -- The words.
  body text
) strict;`
    const second = `create table notes_new (
  id text primary key,
  body text not null default '',
  -- Who wrote it.
  author text
) strict;
insert into notes_new (id, body) select id, coalesce(body, '') from notes;
drop table notes;
alter table notes_new rename to notes;`
    const third = `-- A drawing.
create table drawings (
  id text primary key
) strict;`
    const schema = await buildSchema(
      [
        { name: '0001_notes.sql', text: first },
        { name: '0002_rebuild_notes.sql', text: second },
        { name: '0003_notes.sql', text: third },
      ],
      {},
    )
    expect([...schema.keys()]).toEqual(['src/db/schema/notes.ts'])
    const text = schema.get('src/db/schema/notes.ts') ?? ''
    expect(text).toContain('/** A note. */\nexport const notes =')
    expect(text).toContain("  /** The words. */\n  body: text().notNull().default(''),\n")
    expect(text).toContain('  /** Who wrote it. */\n  author: text(),\n')
    expect(text).toContain('/** A drawing. */\nexport const drawings =')
  })

  it.each([
    ['a table', { texts: { body: ['a'] } }, 'has texts, which no migration creates.'],
    ['a column', { notes: { boby: ['a'] } }, 'has notes.boby, which no migration creates.'],
    ['words of a number', { notes: { size: ['a'] } }, 'notes.size is INTEGER.'],
  ] as const)('refuses the type of %s that does not exist', async (_, columnTypes, message) => {
    const text = 'create table notes (\n  id text primary key,\n  body text,\n  size integer\n) strict;'
    await expect(buildNotes(text, columnTypes)).rejects.toThrow(message)
  })

  it('refuses a table whose line it does not find', async () => {
    await expect(buildNotes('CREATE TABLE notes (id text primary key) strict;')).rejects.toThrow(
      'No line of the migrations begins with: create table notes',
    )
  })
})
