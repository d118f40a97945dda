import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { listDeclaredNames } from '../support/declared-names.ts'

interface Word {
  word: string
  folders: string[]
}

/** Reads the words and their folders from the glossary. A word without a folder is no name anywhere. */
async function loadWords(): Promise<Word[]> {
  const glossary = await readFile('docs/glossary.md', 'utf8')
  const [, section = ''] = glossary.split('\n## Words of one folder\n')
  return section.split(/^- /m).flatMap((entry) => {
    const [, word] = /^\*\*(\w+)\*\*:/.exec(entry) ?? []
    return word
      ? [{ word, folders: [...entry.matchAll(/`((?:src|scripts)\/[^`]+)`/g)].map(([, path = '']) => path) }]
      : []
  })
}

const splitName = (name: string): string[] => name.split(/(?=[A-Z])/).map((part) => part.toLowerCase())

/** Builds a test of names: a word in any form (`answer`, `answers`, `isAnswered`), or a whole name (`isRead`). */
function createMatcher(word: string): (name: string) => boolean {
  if (word !== word.toLowerCase()) return (name) => name === word
  const form = new RegExp(`^(un|re)?${word.replace(/e$/, '')}(e?[sd]?|ed|ing|e?able|ement)$`)
  return (name) => splitName(name).some((part) => form.test(part))
}

const [words, names] = await Promise.all([loadWords(), listDeclaredNames(['src', 'scripts'])])

it('names use the words of one folder in that folder alone', () => {
  const strangers = words.flatMap(({ word, folders }) => {
    const matches = createMatcher(word)
    return names
      .filter(({ path, name }) => matches(name) && !folders.some((folder) => path.startsWith(folder)))
      .map(({ path, name }) => `${word}: ${name} in ${path}`)
  })
  expect(strangers).toEqual([])
  expect(words.length).toBeGreaterThan(5)
})

it('each folder of a word has a name with it', () => {
  const unusedFolders = words.flatMap(({ word, folders }) => {
    const matches = createMatcher(word)
    const paths = names.filter(({ name }) => matches(name)).map(({ path }) => path)
    return folders.filter((folder) => !paths.some((path) => path.startsWith(folder))).map((folder) => [word, folder])
  })
  expect(unusedFolders).toEqual([])
})

it('recognises the forms of a word', () => {
  const isAboutClaims = createMatcher('claim')
  expect(['claim', 'claims', 'isClaimable', 'UnclaimedRow', 'reclaim'].map(isAboutClaims)).toEqual(Array(5).fill(true))
  expect(['exclaim', 'claimant', 'disclaimer'].map(isAboutClaims)).toEqual([false, false, false])
  expect(['settle', 'settled', 'RefundSettlement', 'unsettled'].map(createMatcher('settle'))).toEqual(
    Array(4).fill(true),
  )
})
