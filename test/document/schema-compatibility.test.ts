import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { findFaults, listUnusedNames } from '../../scripts/support/schema/compatible.ts'
import { readShape } from '../../scripts/support/schema/read-shape.ts'

const released = `
create table people (id text primary key) strict;
create table notes (
  id integer primary key,
  person_id text not null references people (id),
  status text not null check (status in ('open', 'done')),
  body text not null default 'it''s (empty)',
  title text,
  code text not null,
  unique (code, status)
) strict;
create index notes_by_person on notes (person_id, status);
create unique index notes_by_title on notes (title) where title is not null;
create table searches (note_id text primary key) strict, without rowid;
create virtual table note_search using fts5 (body, content = '');
create trigger note_added after insert on notes begin insert into searches values (new.id); end;
create view open_notes (id, body) as select id, body from notes where status = 'open';
`

const readSchema = (sql: string) => {
  const database = new DatabaseSync(':memory:')
  database.exec(sql)
  const shape = readShape(database)
  database.close()
  return shape
}

const listFaults = (migration: string) =>
  findFaults(readSchema(released), readSchema(`${released}\n${migration}`)).map(({ message }) => message)

/** Replaces a part of the released schema, as a migration does that builds a table anew. */
function listFaultsOfChange(before: string, after: string): string[] {
  expect(released.split(before)).toHaveLength(2)
  return findFaults(readSchema(released), readSchema(released.replace(before, after))).map(({ message }) => message)
}

describe('the released version runs on a schema that', () => {
  it.each([
    ['is the same', ''],
    ['has another column that may be null', 'alter table notes add column colour text'],
    ['has another column with a default', `alter table notes add column colour text not null default 'red'`],
    [
      'checks the words of a new column',
      `alter table notes add column colour text not null default 'red' check (colour in ('red', 'blue'))`,
    ],
    ['has another table', 'create table colours (id text primary key, note_id integer not null references notes (id))'],
    ['has another index', 'create index notes_by_body on notes (body)'],
    [
      'has a unique index on a new column that stays null',
      'alter table notes add column slug text; create unique index notes_by_slug on notes (slug)',
    ],
    ['refers to another table from a new column', 'alter table notes add column colour_id text references people (id)'],
    [
      'counts in another trigger',
      'create trigger note_gone after delete on notes begin delete from searches where note_id = old.id; end',
    ],
    ['has new rows', `insert into people values ('a')`],
  ])('%s', (_, migration) => {
    expect(listFaults(migration)).toEqual([])
  })

  it.each([
    ['allows more words', `('open', 'done')`, `('open', 'done', 'late')`],
    ['allows null', 'code text not null', 'code text'],
    ['checks nothing any more', ` check (status in ('open', 'done'))`, ''],
    ['has another default', `default 'it''s (empty)'`, `default ''`],
    [
      'is only written otherwise',
      'create index notes_by_person on notes (person_id, status)',
      'create index notes_by_person\n  on notes (person_id,  status) -- by person\n',
    ],
  ])('%s', (_, before, after) => {
    expect(listFaultsOfChange(before, after)).toEqual([])
  })
})

describe('the released version does not run on a schema that', () => {
  it.each([
    ['loses a column', 'drop view open_notes; alter table notes drop column body', 'The column notes.body is gone'],
    ['renames a column', 'alter table notes rename column body to text', 'The column notes.body is gone'],
    ['loses a table', 'drop trigger note_added; drop table searches', 'The table searches is gone'],
    ['renames a table', 'drop trigger note_added; alter table searches rename to finds', 'The table searches is gone'],
    ['loses an index', 'drop index notes_by_person', 'The index notes_by_person is gone'],
    ['loses a trigger', 'drop trigger note_added', 'The trigger note_added is gone'],
    ['loses a view', 'drop view open_notes', 'The view open_notes is gone'],
    ['loses a search index', 'drop table note_search', 'The table note_search is gone'],
    [
      'has a unique index on old columns',
      'create unique index notes_by_body on notes (body)',
      'a new unique key (body)',
    ],
    [
      'has a unique index on a new column with a default',
      `alter table notes add column slug text default ''; create unique index notes_by_slug on notes (slug)`,
      'a new unique key (slug)',
    ],
    [
      'has a unique index on an expression',
      'create unique index notes_by_length on notes (length(body))',
      'a new unique key (length(body))',
    ],
    [
      'refuses rows in a trigger',
      `create trigger note_refused before insert on notes begin select raise(abort, 'no'); end`,
      'The trigger note_refused is new or changed',
    ],
    [
      'drops a unique index and makes it anew with another condition',
      'drop index notes_by_title; create unique index notes_by_title on notes (title)',
      'The table notes has a new unique key (title)',
    ],
  ])('%s', (_, migration, message) => {
    expect(listFaults(migration).join('\n')).toContain(message)
  })

  it.each([
    ['has another type', 'title text', 'title integer', 'The column notes.title was TEXT and is INTEGER.'],
    ['refuses null', '  title text,', '  title text not null,', 'The column notes.title refuses null'],
    ['has lost a default', ` default 'it''s (empty)'`, '', 'The column notes.body has lost its default'],
    [
      'demands a new column',
      '  title text,',
      '  title text,\n  colour text not null,',
      'The column notes.colour needs a value',
    ],
    ['calculates a column', 'title text', `title text as ('')`, 'The column notes.title can no longer be written'],
    ['allows fewer words', `('open', 'done')`, `('open')`, `a new check (status in ('open'))`],
    ['checks more', 'title text', 'title text check (length(title) < 9)', 'a new check (length(title) < 9)'],
    ['checks it in any letter case', 'title text', `title text CHECK (title <> ')')`, `a new check (title <> ')')`],
    [
      'refers to another table',
      'code text not null',
      'code text not null references people (id)',
      'a new foreign key (code to people',
    ],
    ['has lost a unique key', ',\n  unique (code, status)', '', 'has lost its unique key (code, status)'],
    [
      'has no rowid',
      '(id text primary key) strict',
      '(id text primary key) strict, without rowid',
      'The table people was strict and is without rowid, strict.',
    ],
    [
      'has another index of this name',
      'notes (person_id, status)',
      'notes (status, person_id)',
      'The index notes_by_person has changed',
    ],
    [
      'shows less in a view',
      'open_notes (id, body) as select id, body',
      'open_notes (id) as select id',
      'The view open_notes has lost its column body.',
    ],
  ])('%s', (_, before, after, message) => {
    expect(listFaultsOfChange(before, after).join('\n')).toContain(message)
  })

  it('has another primary key', () => {
    expect(
      listFaultsOfChange(
        'note_id text primary key)',
        'note_id text, number integer not null default 0, primary key (note_id, number))',
      ),
    ).toContain(
      'The table searches has lost its unique key (note_id), which "on conflict" of the released version may need.',
    )
  })
})

describe('what no release uses any more', () => {
  const migrations = [
    { text: '-- Unused since 0.2.0: notes.title, notes_by_title\ndrop index notes_by_title;' },
    { text: '-- Unused since 0.3.0: note_added' },
  ]

  it('is named by the migration that removes it', () => {
    expect(listUnusedNames(migrations, new Set(['0.1.0', '0.2.0']))).toEqual(new Set(['notes.title', 'notes_by_title']))
  })

  it('still has to be there as long as the release is not stored', () => {
    expect(listUnusedNames(migrations, new Set(['0.1.0']))).toEqual(new Set())
  })
})
