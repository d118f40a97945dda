import { exports } from 'cloudflare:workers'
import { unzipSync } from 'fflate'

export async function download(createAddUrl: string): Promise<Uint8Array> {
  const { pathname } = new URL(createAddUrl)
  const response = await exports.default.fetch(new Request(`https://api.example${pathname}`))
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return new Uint8Array(await response.arrayBuffer())
}

export function readPassJson(bytes: Uint8Array): Record<string, unknown> {
  const files = unzipSync(bytes)
  return JSON.parse(new TextDecoder().decode(files['pass.json'])) as Record<string, unknown>
}

/** Reads the token inside a package, which a phone finds there. */
export const readToken = async (add_url: string): Promise<string> => {
  const fields = readPassJson(await download(add_url))
  return fields['authenticationToken'] as string
}
