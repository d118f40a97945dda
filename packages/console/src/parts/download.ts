import type { Init, PathsOf } from '@event-commerce/client'
import { api } from '../api'

/** The name that the answer gives its file. */
const readFileName = ({ headers }: Response): string | undefined =>
  /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1]

/** Offers a file to the person as a download. */
export function offerFile(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  // The browser reads the address after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Loads a file with the token of the person, and offers it as a download. `name` is for answers that name no file. */
export async function download<Path extends PathsOf<'get'>>(
  path: Path,
  init: Init<Path, 'get'>,
  name: string,
): Promise<void> {
  const load = api.GET as unknown as (path: string, init: object) => Promise<{ data: Blob; response: Response }>
  const { data, response } = await load(path, { ...(init as object), parseAs: 'blob' })
  offerFile(data, readFileName(response) ?? name)
}
