export interface ImageShape {
  width: number
  height?: number
  /** `crop` fills the shape and cuts the rest, `scale-down` fits into it. Neither enlarges an image. */
  fit: 'crop' | 'scale-down'
}

export interface ImagesGateway {
  /** Converts to a still WebP image, rotated by its metadata and without metadata. Throws if that fails. */
  toWebp: (image: ReadableStream<Uint8Array>, shape: ImageShape) => Promise<Uint8Array<ArrayBuffer>>
}

const quality = 82
const maxBytes = 20_000_000

async function readCapped(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`The image is larger than ${maxBytes} bytes.`)
    chunks.push(chunk as Uint8Array<ArrayBuffer>)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** The Images binding of Cloudflare. It rotates images itself, and its WebP has no metadata. */
export const createImagesGateway = (binding: ImagesBinding): ImagesGateway => ({
  async toWebp(image, shape) {
    // Only the first frame of an animation, because a small file can have very many.
    const result = await binding.input(image).transform(shape).output({ format: 'image/webp', quality, anim: false })
    return readCapped(result.image())
  },
})
