record --pack: a run that is recorded into one file, and one that is interrupted.

  $ . "$CASES/common.sh"
  $ needs samples

  $ skidscan record -e faults -p none,pp --samples 100 --pack host.tar -q
  $ ls
  host.tar
  $ skidscan report host.tar --format json | pick measurements.0.run measurements.1.file
  measurements.0.run = "host.tar"
  measurements.1.file = "host.tar/faults.pp.data"

An interrupted run stays a directory beside the file, and is packed once it is finished.

  $ "$SKIDSCAN" record -e faults -p none,pp --duration 3 --pack cut.tar > /dev/null 2> messages & id=$!
  $ until ls cut.run/*.data > /dev/null 2>&1 || ! kill -0 $id 2> /dev/null; do sleep 0.1; done
  $ kill -TERM $id; wait $id
  [143]
  $ grep -c 'finish with: skidscan record --resume cut.run --pack cut.tar$' messages
  1
  $ ls -d cut.*
  cut.run
  $ skidscan record --resume cut.run --pack cut.tar -q
  $ ls -d cut.*
  cut.tar
  $ skidscan merge host.tar cut.tar --as-repeats -q | pick measurements.#
  measurements.# = 4
