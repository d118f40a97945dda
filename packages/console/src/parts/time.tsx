import { useEdition } from '../caller'
import { formatAge, formatDate, formatTime, words } from '../words'

/** An instant in the time zone of the edition. `age` writes how long ago it is, and shows the instant on hover. */
export function Time({ at, age = false, date = false }: { at: string | null; age?: boolean; date?: boolean }) {
  const zone = useEdition()?.timezone
  if (at === null) return <>{words.common.never}</>
  const instant = formatTime(at, zone)
  return (
    <time dateTime={at} title={age || date ? instant : zone} className="nowrap">
      {age ? formatAge(at) : date ? formatDate(at, zone) : instant}
    </time>
  )
}
