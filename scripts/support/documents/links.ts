import { posix } from 'node:path'

export interface Page {
  path: string
  text: string
}

const folders = /^(?:src|test|scripts|migrations|docs|\.ci)\/[\w./-]+$/
const belowSource = /^(?:domain|db|http|gateways|modules|objects|entry)\/[\w./-]+$/
const fileName = /^[\w.-]+\.(?:ts|sql|json)$/

const removeCode = (text: string): string => text.replaceAll(/^ *```.*?^ *```$/gms, '').replaceAll(/`[^`\n]*`/g, '')

/** Builds the anchor of a heading as GitHub does. */
export const buildAnchor = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

function listAnchors(text: string): Set<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.replaceAll(/^ *```.*?^ *```$/gms, '').matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = buildAnchor(heading)
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`)
  }
  return anchors
}

const listLinks = (text: string): string[] =>
  [...removeCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))

/** Finds links to missing files and headings, and pages that no other page links to. */
export function findBrokenLinks(pages: readonly Page[], files: ReadonlySet<string>): string[] {
  const anchors = new Map(pages.map(({ path, text }) => [path, listAnchors(text)]))
  const linked = new Set(['README.md'])
  const broken = pages.flatMap(({ path, text }) =>
    listLinks(text).flatMap((link) => {
      const [file = '', anchor] = link.split('#', 2)
      const target = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file))
      if (target !== path) linked.add(target)
      if (!files.has(target)) return [`${path}: ${link} leads to no file`]
      if (anchor === undefined || anchors.get(target)?.has(anchor)) return []
      return [`${path}: ${link} leads to no heading`]
    }),
  )
  const orphans = pages.filter(({ path }) => !linked.has(path)).map(({ path }) => `${path}: no page links to it`)
  return [...broken, ...orphans]
}

/** Finds files and folders that pages name in code and that do not exist. */
export function findMissingPaths(pages: readonly Page[], files: ReadonlySet<string>): string[] {
  const folderOf = (file: string): string[] =>
    file.includes('/') ? [posix.dirname(file), ...folderOf(posix.dirname(file))] : []
  const known = new Set([...files].flatMap((file) => [file, ...folderOf(file)]))
  const names = new Set([...files].map((file) => posix.basename(file)))
  const isMissing = (name: string): boolean => {
    if (name.includes('NNNN')) return false
    const path = name.replace(/\/$/, '')
    if (folders.test(path)) return !known.has(path)
    if (belowSource.test(path)) return !known.has(`src/${path}`)
    return fileName.test(path) && !names.has(path)
  }
  return pages.flatMap(({ path, text }) => {
    const spans = text.replaceAll(/^ *```.*?^ *```$/gms, '').matchAll(/`([^`\n]+)`/g)
    return [...spans]
      .map(([, name = '']) => name)
      .filter(isMissing)
      .map((name) => `${path}: \`${name}\` does not exist`)
  })
}
