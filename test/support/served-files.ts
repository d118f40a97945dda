import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { app } from '../../src/app.ts'
import { files } from '../../src/db/schema/files/files.ts'
import { insert } from '../../src/db/write.ts'
import { toHex } from '../../src/domain/text/encoding.ts'
import type { Variant } from '../../src/domain/files/addresses.ts'
import type { FilePurpose } from '../../src/domain/files/files.ts'
import { seedBytes } from './seed-files.ts'
import { freshId, next, randomBytes, seededAt, seedOrganization, write } from './seed.ts'

export interface SeededFile {
  id: string
  organization_id: string
  access_key: string
  storage_key: string
  checksum_sha256: string
  content: Uint8Array<ArrayBuffer>
}

interface FileOptions {
  organization?: string
  name?: string
  purpose?: FilePurpose
  mime_type?: string
  status?: 'ready' | 'quarantined'
  content?: Uint8Array<ArrayBuffer>
  created_at?: number
}

/** A file with its bytes, written where the service reads them. */
export async function seedFile(options: FileOptions = {}): Promise<SeededFile> {
  const { name = 'photo.png', purpose = 'image', mime_type = 'image/png', status = 'ready' } = options
  const content = options.content ?? randomBytes(1000 + next()).slice()
  const organization_id = options.organization ?? (await seedOrganization()).id
  const at = options.created_at ?? seededAt
  const row = {
    id: freshId('file'),
    organization_id,
    access_key: toHex(randomBytes(16)),
    ...(await seedBytes(organization_id, content)),
    name,
    purpose,
    mime_type,
    status,
    created_at: at,
    modified_at: at,
  }
  await write(insert(files, row))
  return { ...row, content }
}

export const pathOf = ({ id, access_key }: Pick<SeededFile, 'id' | 'access_key'>, variant: Variant = 'original') =>
  `/files/${id}/${access_key}/${variant}`

export interface Fetch {
  method?: string
  headers?: Record<string, string>
  bindings?: object
  origin?: string
  /** Waits for what goes on after the answer. */
  isWaiting?: boolean
}

/** An answer with its bytes. */
export interface Fetched {
  status: number
  headers: Headers
  bytes: Uint8Array
}

/** As browsers ask: without a token of the API. */
export async function fetchFile(path: string, options: Fetch = {}): Promise<Fetched> {
  const { method = 'GET', headers = {}, bindings = {}, origin = 'https://api.example', isWaiting = true } = options
  const context = createExecutionContext()
  const request = new Request(origin + path, { method, headers, redirect: 'manual' })
  const response = await app.fetch(request, { ...env, ...bindings }, context)
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (isWaiting) await waitOnExecutionContext(context)
  return { status: response.status, headers: response.headers, bytes }
}

export interface FakeImages {
  IMAGES: ImagesBinding
  /** What was asked for, in order. */
  asked: { shape: ImageTransform; output: ImageOutputOptions }[]
  /** How many images were read. */
  inputs: Uint8Array[]
}

/** An Images binding that says what it was asked for, in place of an image. */
export function fakeImages(work: () => Promise<unknown> = async () => undefined): FakeImages {
  const asked: FakeImages['asked'] = []
  const inputs: Uint8Array[] = []
  const binding = {
    input: (stream: ReadableStream<Uint8Array>) => ({
      transform: (shape: ImageTransform) => ({
        async output(output: ImageOutputOptions) {
          asked.push({ shape, output })
          inputs.push(new Uint8Array(await new Response(stream).arrayBuffer()))
          await work()
          return { image: () => new Blob([`webp ${JSON.stringify(shape)}`]).stream() }
        },
      }),
    }),
  }
  return { IMAGES: binding as unknown as ImagesBinding, asked, inputs }
}
