import { readError } from './errors.ts'

type ParseAs = 'json' | 'text' | 'blob' | 'arrayBuffer' | 'stream'

const isBinary = (body: unknown): boolean =>
  body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body) || body instanceof ReadableStream

/** Writes an object as JSON, or as a form if a field of it is a file. Files are sent as they are. */
export function serializeBody(body: unknown): unknown {
  if (isBinary(body) || body instanceof FormData) return body
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : []
  if (!fields.some(([, value]) => value instanceof Blob)) return JSON.stringify(body)
  const form = new FormData()
  for (const [name, value] of fields as [string, unknown][])
    if (value instanceof Blob || typeof value === 'string') form.append(name, value)
    else if (value !== undefined) form.append(name, JSON.stringify(value))
  return form
}

/** Reads a body as its type of content asks, or as the caller asks. */
export async function readData(response: Response, parseAs: ParseAs | undefined): Promise<unknown> {
  if (response.status === 204 || response.status === 304) return undefined
  if (parseAs === 'stream') return response.body
  if (parseAs !== undefined && parseAs !== 'json') return response[parseAs]()
  const type = response.headers.get('content-type') ?? 'application/json'
  if (parseAs === undefined && /^text\/csv|ndjson/.test(type)) return response.text()
  if (parseAs === undefined && /^(?:image|application)\//.test(type) && !type.includes('json')) return response.blob()
  const text = await response.text()
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw await readError(response, text)
  }
}
