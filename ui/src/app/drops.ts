// Owns who gets what is dropped on the window from outside: the screen shown if it wants it, the repositories
// otherwise. It reads no file; paths go to Rust.
import { onDestroy } from 'svelte'
import { ipc, type Dropped, type Stop } from '../ipc'

/** Takes a drop and says whether it was meant for it. */
type Taker = (dropped: Dropped) => boolean

const takers: Taker[] = []

/** Offers drops to the calling component as long as it is shown; the last one to ask is asked first. */
export function takeDrops(taker: Taker): void {
  takers.push(taker)
  onDestroy(() => takers.splice(takers.indexOf(taker), 1))
}

/** Begins listening; `over` hears whether something is held over the window. */
export function listenForDrops(over: (held: boolean) => void, otherwise: (dropped: Dropped) => void): Stop {
  return ipc.onDrop((news) => {
    switch (news.kind) {
      case 'over':
        over(true)
        break
      case 'left':
        over(false)
        break
      case 'dropped':
        over(false)
        if (!takers.toReversed().some((taker) => taker(news))) otherwise(news)
        break
    }
  })
}
