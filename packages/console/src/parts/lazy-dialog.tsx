import { type ComponentType, lazy, Suspense, useState } from 'react'

interface Openable {
  isOpen: boolean
}

/** A dialog whose code is loaded when it opens for the first time. It stays mounted, so that its button gets the focus back. */
export function lazyDialog<Props extends Openable>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const Dialog = lazy(async () => ({ default: await load() }))
  return function LazyDialog(props: Props) {
    const [wasOpened, setWasOpened] = useState(false)
    if (props.isOpen && !wasOpened) setWasOpened(true)
    return (
      wasOpened && (
        <Suspense>
          <Dialog {...props} />
        </Suspense>
      )
    )
  }
}
