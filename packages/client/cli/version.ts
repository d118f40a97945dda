import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** package.json is two folders up in the built package, and one in the sources. */
const findManifest = (): string => {
  for (const path of ['../package.json', '../../package.json'])
    try {
      return readFileSync(fileURLToPath(new URL(path, import.meta.url).href), 'utf8')
    } catch {
      continue
    }
  return '{"version":"unknown"}'
}

export const { version } = JSON.parse(findManifest()) as { version: string }
