const heading = '## Unreleased\n'

/** The text below "Unreleased". Null if the heading is missing. */
export function readUnreleased(changelog: string): string | null {
  const start = changelog.indexOf(`\n${heading}`)
  if (start < 0) return null
  const [section = ''] = changelog.slice(start + 1 + heading.length).split(/^## /m, 1)
  return section.trim()
}

/** Moves what is below "Unreleased" under a version and its day. */
export const releaseChanges = (changelog: string, version: string, day: string): string =>
  changelog.replace(`\n${heading}`, `\n${heading}\n## ${version} (${day})\n`)
